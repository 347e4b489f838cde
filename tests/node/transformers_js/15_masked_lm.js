import { AutoModelForMaskedLM, AutoTokenizer, pipeline } from '@huggingface/transformers';

const tokenizer = await AutoTokenizer.from_pretrained('user/masked');
const model = await AutoModelForMaskedLM.from_pretrained('user/masked');
const text = 'The bees live in a hollow [MASK].';
const inputs = tokenizer(text);
const { logits } = await model(inputs);

const at = inputs.input_ids.tolist()[0].indexOf(BigInt(tokenizer.mask_token_id));
const scores = logits[0][at].tolist();
const best = scores.indexOf(Math.max(...scores));
const [{ token }] = await (await pipeline('fill-mask', 'user/masked'))(text);
console.log(logits.dims[2] === scores.length, best === token);
// true true
