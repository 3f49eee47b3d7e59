/** From text to one tree of nodes that know their positions. Whatever would make that expensive is refused first. */

import type { ParsedNode } from 'yaml';
import { Composer, CST, Lexer, Parser } from 'yaml';
import { planLimits } from '../../machines/plan/index.ts';
import { findJsonError } from './json-syntax.ts';
import type { TextProblem } from './text-problem.ts';
import { textProblem } from './text-problem.ts';

export type PlanFormat = 'yaml' | 'json';

export type TreeResult =
  | { readonly ok: true; readonly root: ParsedNode | null }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/** Syntax errors follow from each other; beyond these nobody reads. */
const syntaxErrorsMax = 100;

export function parseTree(text: string, format: PlanFormat): TreeResult {
  const control = forbiddenCharacter.exec(text);
  if (control !== null) {
    return refused(textProblem('ForbiddenCharacter', control.index, 'a control character, or half a surrogate pair'));
  }
  if (format === 'json') {
    const error = findJsonError(text);
    if (error !== null) return refused(textProblem('SyntaxError', error.offset, error.message));
  }
  const lexemes = readLexemes(text);
  if (!lexemes.ok) return lexemes;
  const tokens = readTokens(lexemes.lexemes);
  return tokens.ok ? compose(tokens.tokens, text) : tokens;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is its purpose.
const forbiddenCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ud800-\udfff]/u;

type TokensResult =
  | { readonly ok: true; readonly tokens: CST.Token[] }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

function refused(...problems: readonly TextProblem[]): {
  readonly ok: false;
  readonly problems: readonly TextProblem[];
} {
  return { ok: false, problems };
}

type LexemesResult =
  | { readonly ok: true; readonly lexemes: readonly string[] }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/** Cutting the text into lexemes is cheap; what would make the rest dear is seen here. */
function readLexemes(text: string): LexemesResult {
  const lexemes: string[] = [];
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const type = CST.tokenType(lexeme);
    if (type === 'directive-line' || type === 'tag') {
      const hint = 'write the value without it';
      return refused(textProblem('UnsupportedTag', offset, 'tags and directives are not supported', hint));
    }
    if (lexemes.length >= planLimits.tokensMax.value) {
      return refused(textProblem('FileTooLarge', offset, `more than ${planLimits.tokensMax.value} tokens`));
    }
    lexemes.push(lexeme);
    offset += widthOf(lexeme);
  }
  return { ok: true, lexemes };
}

/** Some lexemes are marks of the lexer that stand for no text. */
function widthOf(lexeme: string): number {
  return lexeme === CST.DOCUMENT || lexeme === CST.SCALAR || lexeme === CST.FLOW_END ? 0 : lexeme.length;
}

/** The parser keeps its own stack, so depth is seen here before anything recurses into it. */
function readTokens(lexemes: readonly string[]): TokensResult {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let documents = 0;
  let errors = 0;
  let offset = 0;
  for (const lexeme of lexemes) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      if (token.type === 'document') documents += 1;
      if (token.type === 'error') errors += 1;
    }
    // The document itself stands at the bottom of the stack, and a scalar may stand on top.
    if (parser.stack.length > planLimits.nestingMax.value + 2) {
      return refused(textProblem('TooDeep', offset, `more than ${planLimits.nestingMax.value} levels`));
    }
    if (documents > 1) return refused(textProblem('SeveralDocuments', offset, 'a plan is one document'));
    if (errors > syntaxErrorsMax) break;
    offset += widthOf(lexeme);
  }
  for (const token of parser.end()) tokens.push(token);
  return { ok: true, tokens };
}

function compose(tokens: readonly CST.Token[], text: string): TreeResult {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    prettyErrors: false,
    // Quadratic in the size of a map; `document-value.ts` looks for repeated keys itself.
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const documents = [...composer.compose(tokens, true, text.length)];
  const [document, ...others] = documents;
  const second = others[0];
  if (second !== undefined) return refused(textProblem('SeveralDocuments', second.range[0], 'a plan is one document'));
  const errors = document === undefined ? [] : [...document.errors, ...document.warnings];
  if (document === undefined || errors.length > 0) {
    return refused(
      ...errors
        .slice(0, syntaxErrorsMax)
        .map((error) => textProblem('SyntaxError', error.pos[0], syntaxMessage(error.message))),
    );
  }
  return { ok: true, root: document.contents };
}

/** The first sentence is enough: the source is shown beside it. */
function syntaxMessage(message: string): string {
  const [line = ''] = message.split('\n');
  return `${line.slice(0, 1).toLowerCase()}${line.slice(1, 300)}`;
}
