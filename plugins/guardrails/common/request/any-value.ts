/**
 * A parameter of more than one type. The schema subset has no word for that, so the schema says nothing but what it is for: any value fits, and
 * `create` reads it (as `unknown`) and refuses what makes no sense. The type is the loosest that the subset knows.
 */
export const anyValue = (description: string, marks: { readonly secret?: true } = {}): AnyValue => ({ description, ...marks }) as unknown as AnyValue;

interface AnyValue {
  readonly type: 'object';
  readonly properties: Readonly<Record<never, never>>;
  readonly description: string;
}
