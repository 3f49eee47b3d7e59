/**
 * dependency-cruiser walks our files with the visitor of @swc/core, which knows every declaration but `using x = …` and
 * throws when it meets one. It is shown to the visitor as the declaration it is. To be deleted as soon as
 * `boundaries.test.ts` passes without it.
 */
import { Visitor } from '@swc/core/Visitor.js';

type Statement = Parameters<Visitor['visitStatement']>[0];
type VariableDeclarators = Parameters<Visitor['visitVariableDeclarators']>[0];

interface UsingDeclaration {
  readonly type: 'UsingDeclaration';
  readonly decls: VariableDeclarators;
}

function isUsing(node: object): node is UsingDeclaration {
  return 'type' in node && node.type === 'UsingDeclaration';
}

const visitKnown = Visitor.prototype.visitStatement;

Visitor.prototype.visitStatement = function visitStatement(this: Visitor, statement: Statement): Statement {
  const node: object = statement;
  if (!isUsing(node)) return visitKnown.call(this, statement);
  this.visitVariableDeclarators(node.decls);
  return statement;
};
