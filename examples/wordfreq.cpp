// Writes an invented book, counts its words, and prints the most frequent ones and how well they spread.
//
//   g++ -O2 -g -finstrument-functions wordfreq.cpp -o wordfreq && ./wordfreq [WORDS] [THREADS]
//
// The output depends on the arguments alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace wordfreq {

/// Marsaglia's xorshift64*: the same numbers everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}

    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 2685821657736338717ULL;
    }

    double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

/// Words whose frequencies fall as Zipf's law says.
class Vocabulary {
public:
    explicit Vocabulary(std::size_t size) {
        words_.reserve(size);
        for (std::size_t i = 0; i < size; ++i) {
            words_.push_back(spell(i));
        }
    }

    const std::string &draw(Random &random) const {
        const double rank = std::pow(static_cast<double>(words_.size()), random.fraction()) - 1;
        return words_[static_cast<std::size_t>(rank)];
    }

private:
    static std::string spell(std::size_t number) {
        static constexpr std::string_view consonants = "bdfgklmnprst";
        static constexpr std::string_view vowels = "aeiou";
        std::string word;
        for (std::size_t rest = number + 7; rest > 0; rest /= 60) {
            word += consonants[rest % 12];
            word += vowels[rest / 12 % 5];
        }
        return word;
    }

    std::vector<std::string> words_;
};

using Counts = std::unordered_map<std::string, std::uint64_t>;

/// One chapter of the book.
std::string write_chapter(const Vocabulary &vocabulary, std::uint64_t seed, std::size_t words) {
    Random random(seed);
    std::string text;
    for (std::size_t i = 0; i < words; ++i) {
        text += vocabulary.draw(random);
        text += random.next() % 12 == 0 ? ".\n" : " ";
    }
    return text;
}

template <typename Visitor>
void split(std::string_view text, Visitor visit) {
    std::size_t start = 0;
    while ((start = text.find_first_not_of(" .\n", start)) != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_of(" .\n", start), text.size());
        visit(text.substr(start, end - start));
        start = end;
    }
}

Counts count_words(std::string_view text) {
    Counts counts;
    split(text, [&counts](std::string_view word) { ++counts[std::string(word)]; });
    return counts;
}

void merge(Counts &into, const Counts &from) {
    for (const auto &[word, count] : from) {
        into[word] += count;
    }
}

std::vector<std::pair<std::string, std::uint64_t>> rank(const Counts &counts) {
    std::vector<std::pair<std::string, std::uint64_t>> ranked(counts.begin(), counts.end());
    std::sort(ranked.begin(), ranked.end(), [](const auto &a, const auto &b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return ranked;
}

/// Shannon's entropy of the words, in bits.
double entropy(const std::vector<std::pair<std::string, std::uint64_t>> &ranked, double words) {
    double bits = 0;
    for (const auto &[word, count] : ranked) {
        const double share = static_cast<double>(count) / words;
        bits -= share * std::log2(share);
    }
    return bits;
}

/// Writes and counts the chapters that fall to one of `threads` workers.
Counts work(const Vocabulary &vocabulary, unsigned worker, unsigned threads, std::size_t words) {
    constexpr std::size_t chapter = 5000;
    Counts counts;
    for (std::size_t first = worker * chapter; first < words; first += threads * chapter) {
        const std::string text = write_chapter(vocabulary, first, std::min(chapter, words - first));
        merge(counts, count_words(text));
    }
    return counts;
}

} // namespace wordfreq

int main(int argc, char **argv) {
    using namespace wordfreq;
    const std::size_t words = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000000;
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::max(1, std::atoi(argv[2]))) : 2;

    const Vocabulary vocabulary(20000);
    std::vector<Counts> parts(threads);
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) {
        workers.emplace_back([&, i] { parts[i] = work(vocabulary, i, threads, words); });
    }
    for (std::thread &worker : workers) {
        worker.join();
    }

    Counts counts;
    for (const Counts &part : parts) {
        merge(counts, part);
    }
    const auto ranked = rank(counts);
    std::printf("%zu words, %zu different, %.4f bits each\n", words, ranked.size(), entropy(ranked, static_cast<double>(words)));
    for (std::size_t i = 0; i < std::min<std::size_t>(10, ranked.size()); ++i) {
        std::printf("%8llu  %s\n", static_cast<unsigned long long>(ranked[i].second), ranked[i].first.c_str());
    }
}
