import { pipeline } from '@huggingface/transformers';

const classifier = await pipeline('zero-shot-classification', 'user/nli');
const text = 'Last week I upgraded my iOS version and ever since then my phone has been overheating whenever I use your app.';
const labels = ['mobile', 'billing', 'website', 'account access'];

const output = await classifier(text, labels);
console.log(Object.keys(output).join(), output.labels.length, Math.abs(output.scores.reduce((a, b) => a + b) - 1) < 1e-5);

const { scores } = await classifier(text, labels, { multi_label: true });
console.log(scores.every((score) => score >= 0 && score <= 1));
// sequence,labels,scores 4 true
// true
