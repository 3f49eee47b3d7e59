/** Ids: how they are made, shown, typed and found. */
export { encodeUuid, isUuid } from './base32.ts';
export type { IdKind, IdPrefix, ParsedId } from './public-id.ts';
export { idKinds, parseId, publicId, publicIdOrText, withPublicIds } from './public-id.ts';
export type { UuidSource } from './uuid-v7.ts';
export { createUuidV7 } from './uuid-v7.ts';
