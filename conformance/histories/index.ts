/** Random plans and hostile histories over the pure core. */
export { type SearchOptions, type SearchResult, searchHistories } from './search.ts';
