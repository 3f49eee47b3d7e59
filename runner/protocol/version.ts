/** Apart from the schemas, so that the lease keeper's thread starts without loading them. */
export const protocolVersion = 1;
