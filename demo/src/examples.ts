// Example texts, written for this page. A test checks the answers of the bundled models for each.

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** A message with private details in it, and what a chatbot answers to its redacted form. */
export interface MessageExample extends NamedText {
  readonly answer: string;
}

export const messages: readonly MessageExample[] = [
  {
    name: 'An order',
    text:
      'Hello, my name is Thomas Miller and I live in Boston. My order has not arrived. You can reach me at ' +
      'thomas.miller@example.org or on +1 617 555 0142. I paid with my card, 4111 1111 1111 1111.',
    answer:
      'Dear [PER_1], I am sorry that nothing has reached you in [LOC_1] yet. We have sent your order again and will write to [EMAIL_1] today.',
  },
  {
    name: 'A contract',
    text:
      'Please send the contract to David Miller in London. His email is david.miller@example.com and his phone is ' +
      '+44 20 7946 0958. The fee goes to GB29 NWBK 6016 1331 9268 19.',
    answer: 'The contract for [PER_1] is attached. Shall I call [PHONE_1] before the fee goes to [IBAN_1]?',
  },
  {
    name: 'A visit',
    text:
      'Mary Johnson from the University of Oxford will visit us in New York. Her page is https://example.com/mary and her ' +
      'number is (212) 555-0187.',
    answer: 'I have planned the day in [LOC_1]: [PER_1] arrives at nine, and if she is late, you can call her on [PHONE_1].',
  },
];

/** Without labels, the example is for the bundled model that knows praise and complaint. */
export interface LinesExample extends NamedText {
  readonly labels?: string;
}

export const lines: readonly LinesExample[] = [
  {
    name: 'Customer mail',
    text: [
      'My parcel still has not arrived and nobody answers my emails.',
      'You charged my credit card twice.',
      'I cannot log in to my account.',
      'Thank you, the service was excellent!',
    ].join('\n'),
    labels: 'delivery, payment, account, praise',
  },
  {
    name: 'Requests',
    text: [
      'Book a table for two at an Italian restaurant.',
      'Will it rain in Oslo tomorrow?',
      'Play some jazz from the sixties.',
      'Find me a cheap flight to Madrid in June.',
    ].join('\n'),
    labels: 'travel, restaurant, music, weather',
  },
  {
    name: 'Reviews',
    text: [
      'A warm, funny film with a cast that clearly enjoys every minute.',
      'Two hours of noise and not one idea worth remembering.',
      'Easy to set up, great picture, and the battery lasts for days.',
      'Flimsy hinges, slow menus, and support that never answers.',
    ].join('\n'),
  },
  {
    name: 'One line',
    // Several of its words speak for the label, and some against it.
    text: 'The striker scored twice before the storm stopped the match.',
    labels: 'sports, weather, politics',
  },
];

export interface DocumentExample extends NamedText {
  readonly questions: readonly string[];
}

export const documents: readonly DocumentExample[] = [
  {
    name: 'A cottage',
    text:
      'Welcome to the cottage. The key is in the small box beside the blue door, and the code of the box is 4071. Please leave your ' +
      'shoes in the hall.\n\n' +
      'Heating and water. The stove in the kitchen burns wood, which is stored in the shed behind the house. Hot water comes from the ' +
      'boiler in the cellar and takes about twenty minutes to warm up. Please turn the boiler off when you leave.\n\n' +
      'Kitchen. The fridge is under the window. The nearest shop is in Hallstead, three miles away, and it closes at six in the ' +
      'evening. Fresh eggs can be bought from Mrs. Carter at the farm across the road.\n\n' +
      'Rubbish. The bins are emptied on Thursday mornings. Glass and paper go into the green container by the church.\n\n' +
      'The boat. You may use the rowing boat from May to September. Life jackets hang in the shed, and children must wear them at all ' +
      'times.\n\n' +
      'Internet. The network is called Heron, and the password is written on the back of the router in the living room.\n\n' +
      'Leaving. Please leave before eleven o\u2019clock on the day of departure. Strip the beds, close all windows, and put the key back ' +
      'into the box. A cleaning fee of forty pounds is charged if the kitchen is left dirty.',
    questions: [
      'When are the bins emptied?',
      'How long does hot water take to warm up?',
      'Where is the password written?',
      'How much is the cleaning fee?',
    ],
  },
  {
    name: 'The lighthouse',
    text:
      'The lighthouse at Skarholm was built in 1874 by the engineer Anna Lindqvist, after three ships were lost on the reef in a ' +
      'single winter. Its lamp burned whale oil until 1902, when it was replaced by a kerosene burner that could be seen from ' +
      'eighteen miles away. The last keeper, Jonas Berg, left the island in 1968. Today the tower belongs to the town, which ' +
      'opens it to visitors on Sundays in summer.',
    questions: ['Who was the last keeper?', 'When was the lighthouse built?', 'What did the lamp burn until 1902?'],
  },
  {
    name: 'The kettle',
    text:
      'I bought this kettle for my daughter, who moved to Leeds in September. It boils a full litre in about three minutes and ' +
      'the handle stays cool. The lid is the weak point: it came loose after six weeks and the shop sent a new one for free. ' +
      'She likes the blue light most of all.',
    questions: ['How long does it take to boil a litre?', 'What is the weak point?'],
  },
  {
    name: 'The fox',
    text:
      'Once upon a time a hungry fox came to a frozen lake where an old woman was pulling fish through a hole in the ice. "Give ' +
      'me one," said the fox, "and I will tell you where the king has hidden his golden bell." The old woman laughed and gave him ' +
      'the smallest fish. "It hangs in the tallest birch of the forest," said the fox, and ran away over the snow.',
    questions: ['Who came to a frozen lake?', 'What did the old woman give him?'],
  },
];
