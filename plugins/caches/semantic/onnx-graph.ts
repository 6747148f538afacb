// The graph of a BERT encoder (6 layers, 12 heads, 384 wide) in ONNX, from its weights, with the fused operators of ONNX Runtime.

import { transposed, type Tensor, type Weights } from './safetensors.js';

/** The part of onnx-proto that is used. */
export interface OnnxProto {
  readonly onnx: {
    readonly ModelProto: { create(model: object): object; encode(model: object): { finish(): Uint8Array } };
    readonly TensorProto: { create(tensor: object): object };
    readonly NodeProto: { create(node: object): object };
  };
}

const layers = 6;
const heads = 12;
const width = 384;
const fused = 'com.microsoft';
const epsilon = 1e-12;
/** Numbers of the ONNX format. */
const typeFloat = 1;
const typeInt32 = 6;
const attributeFloat = 1;
const attributeInt = 2;

/** Inputs `ids`, `segments` (int32, [batch, length]); output `states` (float, [batch, length, 384]). */
export function encoderGraph(weights: Weights, { onnx }: OnnxProto): Uint8Array {
  const initializer: object[] = [];
  const node: object[] = [];
  const add = (name: string, { shape, values }: Tensor): string => {
    initializer.push(onnx.TensorProto.create({ name, dims: shape, dataType: typeFloat, rawData: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) }));
    return name;
  };
  const keep = (name: string): string => add(name, weights.tensor(name));
  const turn = (name: string): string => add(name, transposed(weights.tensor(name)));
  const run = (opType: string, input: readonly string[], output: readonly string[], domain = '', attribute: readonly object[] = []): void => {
    node.push(onnx.NodeProto.create({ opType, input, output, domain, attribute }));
  };
  const epsilonAttribute = [{ name: 'epsilon', f: epsilon, type: attributeFloat }];

  run('EmbedLayerNormalization', [
    'ids', 'segments', keep('embeddings.word_embeddings.weight'), keep('embeddings.position_embeddings.weight'),
    keep('embeddings.token_type_embeddings.weight'), keep('embeddings.LayerNorm.weight'), keep('embeddings.LayerNorm.bias'),
  ], ['embedded', 'mask_index'], fused, epsilonAttribute);
  let states = 'embedded';
  for (let layer = 0; layer < layers; layer += 1) {
    const prefix = `encoder.layer.${layer}.`;
    const named = (name: string): string => `${name}_${layer}`;
    const [projection, bias] = joinedProjections(weights, `${prefix}attention.self.`);
    run('Attention', [states, add(named('projection'), projection), add(named('projection_bias'), bias)], [named('attended')], fused,
      [{ name: 'num_heads', i: heads, type: attributeInt }]);
    run('MatMul', [named('attended'), turn(`${prefix}attention.output.dense.weight`)], [named('attention_out')]);
    run('SkipLayerNormalization', [
      named('attention_out'), states, keep(`${prefix}attention.output.LayerNorm.weight`), keep(`${prefix}attention.output.LayerNorm.bias`),
      keep(`${prefix}attention.output.dense.bias`),
    ], [named('middle')], fused, epsilonAttribute);
    run('MatMul', [named('middle'), turn(`${prefix}intermediate.dense.weight`)], [named('wide')]);
    run('BiasGelu', [named('wide'), keep(`${prefix}intermediate.dense.bias`)], [named('activated')], fused);
    run('MatMul', [named('activated'), turn(`${prefix}output.dense.weight`)], [named('narrow')]);
    const next = layer === layers - 1 ? 'states' : named('states');
    run('SkipLayerNormalization', [
      named('narrow'), named('middle'), keep(`${prefix}output.LayerNorm.weight`), keep(`${prefix}output.LayerNorm.bias`), keep(`${prefix}output.dense.bias`),
    ], [next], fused, epsilonAttribute);
    states = next;
  }
  const value = (name: string, elemType: number, sizes: readonly (string | number)[]): object => ({
    name,
    type: { tensorType: { elemType, shape: { dim: sizes.map((size) => (typeof size === 'string' ? { dimParam: size } : { dimValue: size })) } } },
  });
  const model = onnx.ModelProto.create({
    irVersion: 8,
    producerName: 'gateway',
    opsetImport: [{ domain: '', version: 17 }, { domain: fused, version: 1 }],
    graph: {
      name: 'encoder', node, initializer,
      input: [value('ids', typeInt32, ['batch', 'length']), value('segments', typeInt32, ['batch', 'length'])],
      output: [value('states', typeFloat, ['batch', 'length', width])],
    },
  });
  return onnx.ModelProto.encode(model).finish();
}

/** Query, key and value side by side, as the fused attention wants them: (in, 3 × out) and (3 × out). */
function joinedProjections(weights: Weights, prefix: string): readonly [Tensor, Tensor] {
  const values = new Float32Array(width * width * 3);
  const biases = new Float32Array(width * 3);
  for (const [part, name] of ['query', 'key', 'value'].entries()) {
    const matrix = transposed(weights.tensor(`${prefix}${name}.weight`)).values;
    for (let row = 0; row < width; row += 1) values.set(matrix.subarray(row * width, (row + 1) * width), (row * 3 + part) * width);
    biases.set(weights.tensor(`${prefix}${name}.bias`).values, part * width);
  }
  return [{ shape: [width, width * 3], values }, { shape: [width * 3], values: biases }];
}
