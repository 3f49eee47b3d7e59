/** Holds the database alone until its input ends. */
import { DatabaseSync } from 'node:sqlite';

const [file = ''] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('BEGIN EXCLUSIVE');
console.log('locked');
process.stdin.resume();
process.stdin.once('end', () => {
  database.exec('ROLLBACK');
  database.close();
});
