#include "core/cpu/thread_pool.h"

#include <utility>

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)
#define PERUSE_HAS_THREADS
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "hwy/cache_control.h"
#endif

namespace peruse::cpu {

#if defined(PERUSE_HAS_THREADS)

namespace {

// A helper polls this many times, for 0.1 to 0.2 ms, before it sleeps: a sleeping thread wakes too late for the next operation. A poll
// takes less time in wasm, which does not have a pause instruction.
#if defined(__wasm__)
constexpr int kSpins = 300000;
#else
constexpr int kSpins = 8000;
#endif

template <typename Condition>
bool Spin(Condition condition) {
  for (int i = 0; i < kSpins; ++i) {
    if (condition()) return true;
    hwy::Pause();
  }
  return false;
}

}  // namespace

// Runs one job at a time. `state_` contains the job's number, whether helpers may join it, and how many have. Other fields of a job only
// change while it is closed and empty.
class ThreadPool::Helpers {
 public:
  // Starts the threads 1 to threads - 1. Returns false on failure.
  bool Start(int32_t threads) {
    threads_.reserve(static_cast<size_t>(threads - 1));
    entries_.reserve(static_cast<size_t>(threads - 1));
    for (int32_t thread = 1; thread < threads; ++thread) {
      entries_.push_back({this, thread});
      pthread_t handle;
      if (pthread_create(&handle, nullptr, Entry::Main, &entries_.back()) != 0) return false;
      threads_.push_back(handle);
    }
    return true;
  }

  ~Helpers() {
    stopping_ = true;
    Publish();
    for (const pthread_t& thread : threads_) pthread_join(thread, nullptr);
  }

  void Run(int64_t count, Call call, const void* context) {
    call_ = call;
    context_ = context;
    count_ = count;
    next_ = 0;
    Publish();
    Work(0);
    const uint64_t state = state_.fetch_and(~kOpen);
    if (Members(state) == 0 || Spin([this] { return Members(state_) == 0; })) return;
    std::unique_lock<std::mutex> lock(mutex_);
    caller_sleeps_ = true;
    left_.wait(lock, [this] { return Members(state_) == 0; });
    caller_sleeps_ = false;
  }

 private:
  struct Entry {
    Helpers* helpers;
    int32_t thread;
    static void* Main(void* entry) {
      static_cast<Entry*>(entry)->helpers->Help(static_cast<Entry*>(entry)->thread);
      return nullptr;
    }
  };

  static constexpr uint64_t kOpen = uint64_t{1} << 31;
  static uint64_t Number(uint64_t state) { return state >> 32; }
  static uint64_t Members(uint64_t state) { return state & (kOpen - 1); }

  void Publish() {
    state_ = ((Number(state_) + 1) << 32) | kOpen;
    if (sleepers_ == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    opened_.notify_all();
  }

  void Work(int32_t thread) {
    for (int64_t index = next_++; index < count_; index = next_++) call_(context_, thread, index);
  }

  void Help(int32_t thread) {
    for (uint64_t seen = 0;;) {
      WaitForJob(seen);
      uint64_t state = state_;
      seen = Number(state);
      if (stopping_) return;
      bool joined = false;
      while (!joined && Number(state) == seen && (state & kOpen) != 0)
        joined = state_.compare_exchange_weak(state, state + 1);
      if (!joined) continue;
      Work(thread);
      const uint64_t before = state_.fetch_sub(1);
      if (Members(before) == 1 && (before & kOpen) == 0 && caller_sleeps_) {
        const std::lock_guard<std::mutex> lock(mutex_);
        left_.notify_one();
      }
    }
  }

  void WaitForJob(uint64_t seen) {
    const auto opened = [this, seen] { return Number(state_) != seen; };
    if (Spin(opened)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    ++sleepers_;
    opened_.wait(lock, opened);
    --sleepers_;
  }

  std::vector<pthread_t> threads_;
  std::vector<Entry> entries_;

  std::atomic<uint64_t> state_ = 0;  // number << 32 | kOpen | members
  std::atomic<int64_t> next_ = 0;    // next index to hand out
  Call call_ = nullptr;
  const void* context_ = nullptr;
  int64_t count_ = 0;

  std::mutex mutex_;
  std::condition_variable opened_;  // helpers wait for a job
  std::condition_variable left_;    // the caller waits until the last helper has left
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> caller_sleeps_ = false;
  std::atomic<bool> stopping_ = false;
};

#else

class ThreadPool::Helpers {
 public:
  void Run(int64_t, Call, const void*) {}
};

#endif

Result<ThreadPool> ThreadPool::Create(int32_t threads) {
  if (threads < 1) return InvalidArgument("the number of threads must be at least 1");
  if (threads == 1) return ThreadPool(nullptr, 1);
#if defined(PERUSE_HAS_THREADS)
  auto helpers = std::make_unique<Helpers>();
  if (!helpers->Start(threads)) return OutOfMemory("the thread pool could not be created");
  return ThreadPool(std::move(helpers), threads);
#else
  return Unsupported("this build has no threads");
#endif
}

ThreadPool::ThreadPool(std::unique_ptr<Helpers> helpers, int32_t threads)
    : helpers_(std::move(helpers)), threads_(threads) {}
ThreadPool::ThreadPool(ThreadPool&&) noexcept = default;
ThreadPool::~ThreadPool() = default;

void ThreadPool::Run(int64_t count, Call call, const void* context) const { helpers_->Run(count, call, context); }

}  // namespace peruse::cpu
