export class Random {
  constructor(seed) {
    this.state_ = seed >>> 0 || 1;
  }

  next() {
    let x = this.state_;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state_ = x >>> 0;
    return this.state_;
  }

  below(n) {
    return Math.floor((this.next() / 2 ** 32) * n);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  chance(probability) {
    return this.next() / 2 ** 32 < probability;
  }
}
