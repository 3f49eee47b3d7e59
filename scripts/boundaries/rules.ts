/**
 * Who may import whom. One rule per row of the table in docs/ARCHITECTURE.md, each with its reason; the rest keep
 * the shape of the tree (no cycles, entry points only). `check.ts` runs them, `boundaries.test.ts` breaks each one.
 */
export interface BoundaryRule {
  readonly name: string;
  readonly severity: 'error';
  readonly comment: string;
  readonly from: Readonly<Record<string, unknown>>;
  readonly to: Readonly<Record<string, unknown>>;
}

/** Test files answer only to `entry-points-only`: they may use the test runner, the file system and any public entry. */
const tests = String.raw`\.test\.ts$|/test-support/|^bench/|^scripts/|\.config\.ts$`;
/** How dependency-cruiser spells a package: where it was resolved to, or the bare name of a Node built-in. */
const xstate = '^node_modules/xstate/';
const zod = '^node_modules/zod/';
const machines = '^machines/';
const storeContract = String.raw`^store/[^/]+\.ts$|^store/contract/`;
const protocol = '^runner/protocol/';
/** Folders of ours; a path such as `fs/promises` is none of them. */
const ours = '(?:machines|actors|store|transport|runner|spec|conformance|daemon|web|bench|examples|scripts)';
const transportContract = String.raw`^transport/[^/]+\.ts$|^transport/contract/`;

function rule(name: string, comment: string, from: BoundaryRule['from'], to: BoundaryRule['to']): BoundaryRule {
  return { name, severity: 'error', comment, from, to };
}

/** Everything below `path` may import only what `allowed` lists; built-ins only where `builtins` says so. */
function only(name: string, comment: string, path: string, allowed: readonly string[], builtins = false): BoundaryRule {
  const to = builtins ? { pathNot: allowed, dependencyTypesNot: ['core'] } : { pathNot: allowed };
  return rule(name, comment, { path, pathNot: tests }, to);
}

const table: readonly BoundaryRule[] = [
  only(
    'machines-are-pure',
    'A decision that can reach a clock, a disk or a socket cannot be replayed, explored or checked against the spec.',
    '^machines/',
    [machines, xstate, zod],
  ),
  only(
    'store-contract-is-abstract',
    'The contract speaks of facts and rows only, so that a new database never touches the core.',
    storeContract,
    [machines, storeContract, zod, String.raw`^store/[^/]+/index\.ts$`],
  ),
  rule(
    'store-implementation-alone',
    'An implementation sees the contract and its own driver: what two databases share belongs to the contract.',
    { path: '^store/(?!contract/)([^/]+)/', pathNot: tests },
    { path: `^(?!store/|machines/)${ours}/|^store/(?!$1/|contract/)[^/]+/` },
  ),
  rule(
    'contracts-take-types-only',
    'A contract that runs code of the core cannot be implemented, or spoken, without the core.',
    { path: `${protocol}|${storeContract}`, pathNot: tests },
    { path: machines, dependencyTypesNot: ['type-only'] },
  ),
  only(
    'runner-protocol-is-a-language',
    'Both ends of the wire, and other languages, depend on the messages; the messages depend on nothing.',
    protocol,
    [protocol, zod, machines],
  ),
  only(
    'actors-know-contracts',
    'The runtime is the same over every store and transport, so it may name none of them.',
    '^actors/',
    ['^actors/', machines, storeContract, protocol, transportContract, zod],
  ),
  only(
    'runner-is-no-authority',
    'An agent knows the protocol and the machine it runs on; it can reach neither state nor store.',
    '^runner/(?!protocol/)',
    ['^runner/', transportContract, zod, '^node_modules/tinyglobby/'],
    true,
  ),
  only(
    'spec-driver-stands-alone',
    'A specification that imports the code it judges would agree with its mistakes.',
    '^spec/',
    ['^spec/', zod],
    true,
  ),
  rule(
    'transport-implementation-alone',
    'A transport carries messages and holds no meaning: contract, protocol and its own client are enough.',
    { path: '^transport/(?!contract/)([^/]+)/', pathNot: tests },
    {
      path: String.raw`^(?!transport/|runner/protocol/|machines/index\.ts)${ours}/|^transport/(?!$1/|contract/)[^/]+/`,
    },
  ),
  only(
    'transport-contract-is-abstract',
    'The contract is shared by daemon and runners and must not pull a client library into either.',
    transportContract,
    [transportContract, protocol, '^machines/index\\.ts$', zod, String.raw`^transport/[^/]+/index\.ts$`],
    true,
  ),
  rule(
    'conformance-is-an-outsider',
    'The suites judge other people’s stores and transports too, so they use what those can implement: public entries.',
    { path: '^conformance/' },
    { path: '^(?:bench|examples|scripts|web)/' },
  ),
  rule(
    'web-reads-the-public-schema',
    'A page assigns no state; it knows the public interface only.',
    { path: '^web/' },
    { path: `^(?!web/|daemon/http/schema)${ours}/` },
  ),
  rule(
    'bench-and-examples-are-users',
    'They show what a user can do, so they get what a user gets.',
    { path: '^(bench|examples)/' },
    { path: `^${ours}/`, pathNot: [String.raw`(^|/)index\.ts$`, '^bench/', '^examples/'] },
  ),
  rule(
    'daemon-is-on-top',
    'Only the composition root (and the package’s own entry) names concrete adapters; whoever imports it would name them too.',
    { path: '^(?!daemon/|bench/|scripts/|examples/)', pathNot: [tests, String.raw`^index\.ts$`] },
    { path: '^daemon/' },
  ),
];

const shape: readonly BoundaryRule[] = [
  rule(
    'entry-points-only',
    'A folder’s index.ts says what others may rely on; everything else in it is free to move.',
    { path: '^([^/]+)/' },
    { path: `^${ours}/`, pathNot: ['^$1/', String.raw`/index\.ts$`] },
  ),
  rule('no-cycles', 'Files in a cycle can only be read, tested and changed together.', {}, { circular: true }),
  rule(
    'no-unresolvable',
    'An import that resolves to nothing is a rule that judges nothing.',
    {},
    { couldNotResolve: true },
  ),
  rule(
    'tools-stay-outside',
    'scripts/ is for those who work on this repository; the package ships without it.',
    { pathNot: '^scripts/' },
    { path: '^scripts/' },
  ),
  rule(
    'tests-are-leaves',
    'Code that imports a test file cannot be shipped.',
    { pathNot: String.raw`\.test\.ts$` },
    { path: String.raw`\.test\.ts$` },
  ),
];

/** Nothing a public entry reaches may need a package that a user of ours does not get. */
export function shippedRule(devPackages: readonly string[]): BoundaryRule {
  const names = devPackages.map((name) => name.replaceAll('.', String.raw`\.`)).join('|');
  return rule(
    'entries-need-no-dev-packages',
    'A user installs dependencies only: an entry that reaches a development package fails on their machine.',
    { path: String.raw`^(index|[a-z]+/index|daemon/cli/main)\.ts$` },
    { path: `^node_modules/(${names})/`, reachable: true },
  );
}

export const rules: readonly BoundaryRule[] = [...table, ...shape];
