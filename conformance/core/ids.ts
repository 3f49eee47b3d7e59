/** The only place of these suites where plain text becomes an id. */
export function idOf<Id extends string>(text: string): Id {
  return text as Id;
}

/** Ids of one world: UUID-shaped, so that every store takes them, and counted, so that every run has the same. */
export function idSource(): <Id extends string>() => Id {
  let count = 0;
  return <Id extends string>() => {
    count += 1;
    return idOf<Id>(`00000000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`);
  };
}
