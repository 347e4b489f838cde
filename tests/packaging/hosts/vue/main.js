import { env } from 'peruse';
import { computed, createApp, h, ref } from 'vue';
import { usePipeline } from './use_pipeline.js';

env.filesPath = '/peruse/';
const shown = ref(null);
const Sentiment = {
  props: ['model'],
  setup(properties) {
    const { pipeline, progress, error } = usePipeline('text-classification', properties.model);
    const label = ref('');
    const classify = async () => {
      label.value = (await pipeline.value('t1 t2'))[0].label;
    };
    const state = computed(() => error.value?.message ?? (pipeline.value ? label.value || 'ready' : `${Math.round(progress.value)} %`));
    return () => h('p', { id: 'state', onClick: classify }, state.value);
  },
};
createApp({ render: () => (shown.value ? h(Sentiment, shown.value) : h('p', { id: 'state' }, 'nothing')) }).mount('#app');
globalThis.show = (properties) => {
  shown.value = properties;
};
