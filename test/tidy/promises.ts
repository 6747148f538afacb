// Promises that nobody holds: neither awaited, returned, caught, nor handed to something with a name. When such a promise rejects, nobody learns of
// it but the process. Told by types, so that a call is known to give a promise whatever it is called.

import { join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './sources.js';

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023, lib: ['lib.es2023.d.ts'], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'], strict: true, skipLibCheck: true, noEmit: true,
};

/** A program of these files, from the root. `texts` stand in for files that are not there. */
export function programOf(paths: readonly string[], texts: ReadonlyMap<string, string> = new Map(), older?: ts.Program): ts.Program {
  const host = ts.createCompilerHost(options, true);
  const files = new Map([...texts].map(([path, text]) => [join(root, path), text]));
  const { fileExists, readFile, getSourceFile } = host;
  host.getCurrentDirectory = () => root;
  host.fileExists = (path) => files.has(path) || fileExists.call(host, path);
  host.readFile = (path) => files.get(path) ?? readFile.call(host, path);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = files.get(path);
    // Trees that were read once serve again: the library's own are the larger part.
    return text !== undefined ? ts.createSourceFile(path, text, languageVersion, true) : older?.getSourceFile(path) ?? getSourceFile.call(host, path, languageVersion, ...rest);
  };
  return ts.createProgram({ rootNames: paths.map((path) => join(root, path)), options, host });
}

/** Where in these files a promise is lost, and how. */
export function lostPromises(program: ts.Program, paths: readonly string[]): string[] {
  const checker = program.getTypeChecker();
  return paths.flatMap((path) => {
    const file = program.getSourceFile(join(root, path));
    if (file === undefined) throw new Error(`${path} is not in the program`);
    const found: string[] = [];
    const tell = (node: ts.Node, what: string): void => {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      found.push(`${relative(root, file.fileName)}:${line}: ${what}`);
    };
    const visit = (node: ts.Node): void => {
      if (ts.isExpressionStatement(node) && isLost(checker, node.expression)) tell(node, 'a promise that nobody holds; await it, return it, or say what becomes of it with catch()');
      if (ts.isVoidExpression(node) && !ts.isExpressionStatement(node.parent) && isLost(checker, node)) tell(node, 'a promise that nobody holds, behind void; say what becomes of it with catch()');
      for (const given of handedToNobody(checker, node)) tell(given, 'a function that returns a promise where nobody looks at what it returns; hold the promise inside');
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  });
}

const assignments = [ts.SyntaxKind.EqualsToken, ts.SyntaxKind.QuestionQuestionEqualsToken, ts.SyntaxKind.BarBarEqualsToken, ts.SyntaxKind.AmpersandAmpersandEqualsToken];

/** Of an expression whose value goes nowhere. */
function isLost(checker: ts.TypeChecker, expression: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(expression) || ts.isVoidExpression(expression) || ts.isNonNullExpression(expression) || ts.isAsExpression(expression)) return isLost(checker, expression.expression);
  if (ts.isConditionalExpression(expression)) return isLost(checker, expression.whenTrue) || isLost(checker, expression.whenFalse);
  if (ts.isBinaryExpression(expression)) {
    const { kind } = expression.operatorToken;
    if (assignments.includes(kind)) return false;
    return isLost(checker, expression.right) || (kind === ts.SyntaxKind.CommaToken && isLost(checker, expression.left));
  }
  if (ts.isAwaitExpression(expression) || ts.isYieldExpression(expression) || ts.isDeleteExpression(expression) || ts.isPrefixUnaryExpression(expression) || ts.isPostfixUnaryExpression(expression)) return false;
  if (ts.isCallExpression(expression) && (!mayGivePromise(checker, expression) || isCaught(checker, expression))) return false;
  const type = checker.getTypeAtLocation(expression);
  return holdsPromise(checker, type) || elementsOf(checker, type).some((element) => holdsPromise(checker, element));
}

/** `p.catch(f)`, `p.then(f, g)`, and what has one of these before its `finally`. */
function isCaught(checker: ts.TypeChecker, { expression: callee, arguments: given }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(callee) || !holdsPromise(checker, checker.getTypeAtLocation(callee.expression))) return false;
  const { text } = callee.name;
  if (text === 'catch') return given.length === 1;
  if (text === 'then') return given.length === 2;
  return text === 'finally' && ts.isCallExpression(callee.expression) && isCaught(checker, callee.expression);
}

/** Told by what the callee declares, which costs a fraction of working out what this call gives. Where that is left open, true. */
function mayGivePromise(checker: ts.TypeChecker, { expression: callee }: ts.CallExpression): boolean {
  const signatures = signaturesOf(checker.getTypeAtLocation(callee));
  return signatures.length === 0 || signatures.some((signature) => {
    const given = checker.getReturnTypeOfSignature(signature);
    const all = [...partsOf(given), ...elementsOf(checker, given).flatMap(partsOf)];
    return all.some((part) => (part.flags & ts.TypeFlags.Instantiable) !== 0 || holdsPromise(checker, part));
  });
}

/** Functions that give a promise, in the place of ones whose value nobody takes. */
function handedToNobody(checker: ts.TypeChecker, node: ts.Node): readonly ts.Expression[] {
  if (ts.isPropertyAssignment(node)) {
    const { initializer } = node;
    if (!isAsync(initializer)) return [];
    const wanted = checker.getContextualType(initializer);
    return wanted !== undefined && isForNobody(checker, wanted) ? [initializer] : [];
  }
  if (!(ts.isCallExpression(node) || ts.isNewExpression(node)) || node.arguments === undefined || !node.arguments.some(isFunctionLike)) return [];
  const callee = checker.getTypeAtLocation(node.expression);
  const signatures = ts.isNewExpression(node) ? partsOf(callee).flatMap((part) => [...part.getConstructSignatures()]) : signaturesOf(callee);
  return node.arguments.filter((given, index) => {
    if (!isFunctionLike(given)) return false;
    const asked = signatures.flatMap((signature) => {
      const parameter = signature.parameters[index];
      return parameter === undefined ? [] : [checker.getTypeOfSymbol(parameter)];
    });
    if (!asked.some((wanted) => isForNobody(checker, wanted))) return false;
    return signaturesOf(checker.getTypeAtLocation(given)).some((signature) => holdsPromise(checker, checker.getReturnTypeOfSignature(signature)));
  });
}

const isAsync = (node: ts.Node): boolean => ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
const isFunctionLike = (given: ts.Node): boolean => ts.isArrowFunction(given) || ts.isFunctionExpression(given) || ts.isIdentifier(given) || ts.isPropertyAccessExpression(given);

/** A function whose value nobody takes. */
function isForNobody(checker: ts.TypeChecker, wanted: ts.Type): boolean {
  const asked = signaturesOf(wanted);
  return asked.length > 0 && asked.every((signature) => (checker.getReturnTypeOfSignature(signature).flags & ts.TypeFlags.Void) !== 0);
}

const partsOf = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type]);
const signaturesOf = (type: ts.Type): ts.Signature[] => partsOf(type).flatMap((part) => [...part.getCallSignatures()]);

/** A promise, or perhaps one. */
const holdsPromise = (checker: ts.TypeChecker, type: ts.Type): boolean => partsOf(type).some((part) => {
  if ((part.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never)) !== 0) return false;
  const then = checker.getPropertyOfType(part, 'then');
  return then !== undefined && checker.getTypeOfSymbol(then).getCallSignatures().length > 0;
});

const elementsOf = (checker: ts.TypeChecker, type: ts.Type): readonly ts.Type[] =>
  (checker.isArrayType(type) || checker.isTupleType(type) ? checker.getTypeArguments(type as ts.TypeReference) : []);
