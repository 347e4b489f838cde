import './main.js';

export default function Home() {
  return <h1>Peruse in React Router</h1>;
}
