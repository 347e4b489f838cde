// Texts to click on. Written for this page.

export interface PassageExample {
  readonly name: string;
  readonly passage: string;
  readonly questions: readonly string[];
}

export const remarks: readonly string[] = [
  'A warm, funny film with a cast that clearly enjoys every minute.',
  'Two hours of noise and not one idea worth remembering.',
  'Easy to set up, great picture, and the battery lasts for days.',
  'Flimsy hinges, slow menus, and support that never answers.',
  'The story is thin, but the music and the landscapes are a joy.',
];

export const passages: readonly PassageExample[] = [
  {
    name: 'The lighthouse',
    passage:
      'The lighthouse at Skarholm was built in 1874 by the engineer Anna Lindqvist, after three ships were lost on the reef in a ' +
      'single winter. Its lamp burned whale oil until 1902, when it was replaced by a kerosene burner that could be seen from ' +
      'eighteen miles away. The last keeper, Jonas Berg, left the island in 1968. Today the tower belongs to the town, which ' +
      'opens it to visitors on Sundays in summer.',
    questions: ['When was the lighthouse built?', 'Who was the last keeper?', 'What did the lamp burn until 1902?'],
  },
  {
    name: 'The kettle',
    passage:
      'I bought this kettle for my daughter, who moved to Leeds in September. It boils a full litre in about three minutes and ' +
      'the handle stays cool. The lid is the weak point: it came loose after six weeks and the shop sent a new one for free. ' +
      'She likes the blue light most of all.',
    questions: ['How long does it take to boil a litre?', 'What is the weak point?', 'What does she like most?'],
  },
  {
    name: 'The fox',
    passage:
      'Once upon a time a hungry fox came to a frozen lake where an old woman was pulling fish through a hole in the ice. "Give ' +
      'me one," said the fox, "and I will tell you where the king has hidden his golden bell." The old woman laughed and gave him ' +
      'the smallest fish. "It hangs in the tallest birch of the forest," said the fox, and ran away over the snow.',
    questions: ['What was the old woman doing?', 'Where does the golden bell hang?', 'What did the old woman give the fox?'],
  },
];

/** Messages to sort, and labels to sort them by. */
export const messages: readonly { readonly text: string; readonly labels: string }[] = [
  { text: 'My parcel still has not arrived and nobody answers my emails.', labels: 'delivery, refund, praise, lost card' },
  { text: 'The evening train to the coast leaves from platform four.', labels: 'travel, cooking, sports, politics' },
  { text: 'Stir the onions until they are golden, then add the rice and the stock.', labels: 'travel, cooking, sports, politics' },
];

/** Texts with names in them. */
export const reports: readonly string[] = [
  'Anna Lindqvist moved from Gothenburg to New York in 1984 to work for the United Nations.',
  'In May the University of Oxford and the BBC opened an archive of letters by Charles Dickens and Mary Shelley in London.',
  'The band Northern Lights will play in Berlin, Prague and Vienna before David Moore flies home to Canada.',
];
