// What each source reaches for: import specifiers, and the names that open a socket without one.

import { posix } from 'node:path';
import ts from 'typescript';
import { placeOf, walk, type Source } from './sources.js';

export interface Import {
  readonly from: string;
  readonly place: string;
  readonly specifier: string;
  /** Relative specifiers as a path from the root, ending in .ts; else the specifier. */
  readonly target: string;
  readonly isRelative: boolean;
  /** Imported by name; empty for namespaces, defaults and import(). */
  readonly names: readonly string[];
}

export function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: string, names: readonly string[]): void => {
    const isRelative = specifier.startsWith('.');
    const target = isRelative ? posix.join(posix.dirname(source.path), specifier).replace(/\.js$/, '.ts') : specifier;
    found.push({ from: source.path, place: placeOf(source, node), specifier, target, isRelative, names });
  };
  walk(source, (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node, node.moduleSpecifier.text, ts.isImportDeclaration(node) ? namesOf(node) : []);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      add(node, node.argument.literal.text, []);
    } else if (ts.isCallExpression(node) && isLoader(node.expression)) {
      const [argument] = node.arguments;
      if (argument !== undefined && ts.isStringLiteralLike(argument)) add(node, argument.text, []);
    }
  });
  return found;
}

function namesOf(node: ts.ImportDeclaration): string[] {
  const clause = node.importClause;
  if (clause?.namedBindings === undefined || clause.name !== undefined || !ts.isNamedImports(clause.namedBindings)) return [];
  return clause.namedBindings.elements.map((element) => (element.propertyName ?? element.name).text);
}

/** import(), require(), require.resolve(), import.meta.resolve(), getBuiltinModule(). */
function isLoader(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isIdentifier(callee)) return callee.text === 'require';
  return ts.isPropertyAccessExpression(callee) && (callee.name.text === 'getBuiltinModule' || (callee.name.text === 'resolve' && /^(?:require|import\.meta)$/.test(callee.expression.getText())));
}

/** Places that load a module whose name is not written there, or can make a loader that does. */
export function hiddenLoadsOf(source: Source): string[] {
  const found: string[] = [];
  walk(source, (node) => {
    const isUnnamed = ts.isCallExpression(node) && isLoader(node.expression) && !(node.arguments[0] !== undefined && ts.isStringLiteralLike(node.arguments[0]));
    const isMaker = ts.isIdentifier(node) && ['createRequire', 'eval', 'getBuiltinModule'].includes(node.text) && !ts.isImportSpecifier(node.parent);
    const isCode = ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Function';
    if (isUnnamed || isMaker || isCode) found.push(placeOf(source, node));
  });
  return found;
}

const socketGlobals = ['fetch', 'WebSocket', 'EventSource', 'WebSocketStream'];

/** Uses of the globals that open sockets, under their own names or through globalThis. A member called `fetch` of something else is none. */
export function socketGlobalsOf(source: Source): string[] {
  const found: string[] = [];
  walk(source, (node) => {
    if (!ts.isIdentifier(node) || !socketGlobals.includes(node.text)) return;
    const { parent } = node;
    if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
      if (/^(?:globalThis|global)$/.test(parent.expression.getText())) found.push(placeOf(source, node));
      return;
    }
    const isName = (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent) || ts.isPropertySignature(parent)
      || ts.isPropertyDeclaration(parent) || ts.isImportSpecifier(parent) || ts.isTypeReferenceNode(parent)) && (!('name' in parent) || parent.name === node || ts.isImportSpecifier(parent));
    if (!isName) found.push(placeOf(source, node));
  });
  return found;
}
