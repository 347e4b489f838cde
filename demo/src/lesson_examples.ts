export interface LessonExample {
  readonly name: string;
  readonly labels: readonly { readonly label: string; readonly lines: readonly string[] }[];
  readonly tryOut: string;
}

export const lessonExamples: readonly LessonExample[] = [
  {
    name: 'Repairs and bills',
    labels: [
      {
        label: 'repair',
        lines: [
          'The tap in the kitchen drips.',
          'The heating is broken again.',
          'A window in the bedroom does not close.',
          'The light in the hall is out.',
          'Water comes through the ceiling.',
          'The lift has been stuck since Monday.',
          'My front door does not lock.',
          'The toilet is blocked.',
        ],
      },
      {
        label: 'money',
        lines: [
          'When is my next payment due?',
          'I have paid too much this month.',
          'Please send me the bill again.',
          'What does a parking space cost?',
          'My rent went up without notice.',
          'Can I pay the deposit in two parts?',
          'There is a charge that I do not know.',
          'I would like to pay by card.',
        ],
      },
    ],
    tryOut: 'The tap in the bathroom is broken.',
  },
  {
    name: 'Plans and memories',
    labels: [
      {
        label: 'plan',
        lines: [
          'Tomorrow we will drive to the sea.',
          'Next week I will call her.',
          'We will meet at six tonight.',
          'She will start in June.',
          'I will paint the fence on Sunday.',
        ],
      },
      {
        label: 'memory',
        lines: [
          'Last year we drove to the sea.',
          'I called her yesterday.',
          'We met at six that evening.',
          'She started in June ten years ago.',
          'I painted the fence when I was young.',
        ],
      },
    ],
    tryOut: 'Tomorrow I will call the office.',
  },
];
