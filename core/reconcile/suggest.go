package reconcile

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"causeway/core/ident"
	"causeway/core/money"
)

// SuggestionReason is why something may explain a break.
type SuggestionReason string

// The reasons in the order in which they are ranked.
const (
	// SuggestSameReference: another open break has the same reference.
	SuggestSameReference SuggestionReason = "SAME_REFERENCE"
	// SuggestSimilarReference: another open break has the opposite difference and a reference that
	// differs in one or two characters, as from typing.
	SuggestSimilarReference SuggestionReason = "SIMILAR_REFERENCE"
	// SuggestSameAmount: another open break has the opposite difference.
	SuggestSameAmount SuggestionReason = "SAME_AMOUNT"
	// SuggestSum: several other open breaks have together the opposite difference.
	SuggestSum SuggestionReason = "SUM"
	// SuggestFee: what is left is as small as a fee that the partner keeps.
	SuggestFee SuggestionReason = "FEE"
)

// SuggestionReasons lists the reasons in the order in which they are ranked.
func SuggestionReasons() []SuggestionReason {
	return []SuggestionReason{SuggestSameReference, SuggestSimilarReference, SuggestSameAmount, SuggestSum, SuggestFee}
}

// Suggestion is what may explain an open break.
type Suggestion struct {
	Reason SuggestionReason
	// Breaks are the other open breaks that belong to it; none if the partner may have kept a fee of
	// the break itself.
	Breaks []ident.Break
	// Remaining is the sum of the differences of the break and the others, in minor units.
	Remaining int64
	// Against is the account to post what remains against, if that is known.
	Against     OffsetAccount
	Explanation string

	days int // between the break and the others
}

// The limits of suggestions.
const (
	// MaxSuggestions is the maximum number of suggestions for a break.
	MaxSuggestions = 5
	// MaxSuggestedFrom is the maximum number of open breaks that suggestions are made from.
	MaxSuggestedFrom = 1000
	// maxFeePercent is the maximum part of a payment that is taken for a fee.
	maxFeePercent = 3
	// maxSummands is the maximum number of breaks in a sum, and maxSumCandidates that of the nearest
	// breaks that are added up.
	maxSummands      = 4
	maxSumCandidates = 24
)

// Suggester makes suggestions for breaks of an account from its open breaks.
type Suggester struct{ open []brokenItem }

// NewSuggester returns a Suggester with the open breaks of an account.
func NewSuggester(open []BreakDetails) *Suggester {
	s := &Suggester{open: make([]brokenItem, len(open))}
	for i, b := range open {
		s.open[i] = newBrokenItem(b)
	}
	return s
}

// For returns what may explain an open break, the most probable first: other open breaks, alone or as
// a sum. It is deterministic. Nothing is suggested for a resolved break.
func (r *Suggester) For(of BreakDetails) []Suggestion {
	if of.Resolution != nil {
		return nil
	}
	s := &suggester{of: newBrokenItem(of)}
	for i := range r.open {
		other := &r.open[i]
		if other.ID != of.ID && other.daysTo(&s.of) <= Lookback {
			s.others = append(s.others, other)
		}
	}
	// The nearest day first.
	slices.SortFunc(s.others, func(a, b *brokenItem) int {
		return cmp.Or(cmp.Compare(a.daysTo(&s.of), b.daysTo(&s.of)), bytes.Compare(idBytes(a.ID), idBytes(b.ID)))
	})
	s.suggestFeeOfBreak()
	for _, other := range s.others {
		s.suggestPair(other)
	}
	s.suggestSums()
	ranks := SuggestionReasons()
	slices.SortStableFunc(s.found, func(a, b Suggestion) int {
		leaves := func(x Suggestion) int { // what explains all is before what leaves something
			if x.Remaining == 0 {
				return 0
			}
			return 1
		}
		return cmp.Or(leaves(a)-leaves(b), slices.Index(ranks, a.Reason)-slices.Index(ranks, b.Reason), len(a.Breaks)-len(b.Breaks),
			a.days-b.days)
	})
	return s.found[:min(len(s.found), MaxSuggestions)]
}

func idBytes(id ident.Break) []byte {
	u := id.UUID()
	return u[:]
}

// brokenItem is a break with what it is compared by.
type brokenItem struct {
	BreakDetails
	day    Day
	other  Day   // on which its line is compared too; the same if there is none
	amount int64 // of the line or, without one, the entry
	keys   []string
}

// daysTo returns the number of days between two breaks: the least, of lines that are compared on two days.
func (b *brokenItem) daysTo(other *brokenItem) int {
	return min(daysBetween(b.day, other.day), daysBetween(b.day, other.other), daysBetween(b.other, other.day),
		daysBetween(b.other, other.other))
}

func newBrokenItem(b BreakDetails) brokenItem {
	item := brokenItem{BreakDetails: b}
	var keys keyList
	if b.Entry != nil {
		item.day, item.amount = DayOf(b.Entry.Effective), b.Entry.Amount
		item.other = item.day
		e := Entry{Posting: b.Entry.Posting, Transaction: b.Entry.Transaction, Memo: b.Entry.Memo}
		keys.keys = e.keys()
	}
	if b.Line != nil {
		item.amount = b.Line.Amount
		item.day, item.other = b.Line.comparedOn()
		for _, k := range b.Line.keys() {
			keys.add(k)
		}
	}
	item.keys = keys.keys
	return item
}

// suggester makes the suggestions for one break.
type suggester struct {
	of     brokenItem
	others []*brokenItem
	found  []Suggestion
}

func (s *suggester) amount(minor int64) string {
	return money.Amount{Minor: minor, Currency: s.of.Account.Currency}.String()
}

// suggestFeeOfBreak suggests that the partner has kept a fee of the payment, if the break has both
// sides and they differ by little.
func (s *suggester) suggestFeeOfBreak() {
	if s.of.Line != nil && s.of.Entry != nil && isFee(s.of.Difference, s.of.Entry.Amount) {
		s.found = append(s.found, Suggestion{Reason: SuggestFee, Remaining: s.of.Difference, Against: OffsetExpense,
			Explanation: fmt.Sprintf("The partner has %s less than the ledger of a payment of %s, as if it had kept a fee; if so, resolve it "+
				"against %s.",
				s.amount(-s.of.Difference), s.amount(s.of.Entry.Amount), OffsetExpense)})
	}
}

// isFee reports whether a difference is as small as a fee that the partner keeps of a payment.
func isFee(difference, amount int64) bool {
	if difference >= 0 || difference == math.MinInt64 || amount == math.MinInt64 {
		return false
	}
	return -difference <= max(amount, -amount)/100*maxFeePercent
}

// suggestPair suggests one other break.
func (s *suggester) suggestPair(other *brokenItem) {
	remaining, err := money.AddMinor(s.of.Difference, other.Difference)
	if err != nil || (s.of.Difference > 0) == (other.Difference > 0) {
		return
	}
	days := other.daysTo(&s.of)
	found := Suggestion{Breaks: []ident.Break{other.ID}, Remaining: remaining, days: days}
	shared := slices.IndexFunc(s.of.keys, func(k string) bool { return slices.Contains(other.keys, k) })
	switch {
	case shared >= 0 && remaining == 0:
		found.Reason = SuggestSameReference
		found.Explanation = fmt.Sprintf("%s has the same reference %s and amount, %s apart.", s.describe(other),
			s.of.keys[shared], formatDays(days))
	case shared >= 0:
		found.Reason = SuggestSameReference
		found.Explanation = fmt.Sprintf("%s has the same reference %s; %s are left.", s.describe(other), s.of.keys[shared], s.amount(remaining))
		if isFee(remaining, other.amount) {
			found.Against = OffsetExpense
		}
	case remaining == 0:
		found.Reason = SuggestSameAmount
		found.Explanation = fmt.Sprintf("%s has the same amount, %s apart, and another reference.", s.describe(other), formatDays(days))
		if a, b, ok := similarKeys(s.of.keys, other.keys); ok {
			found.Reason = SuggestSimilarReference
			found.Explanation = fmt.Sprintf("%s has the same amount, %s apart, and the reference %s, which is nearly %s.", s.describe(other),
				formatDays(days), b, a)
		}
	case days <= Window && isFee(remaining, other.amount):
		found.Reason, found.Against = SuggestFee, OffsetExpense
		found.Explanation = fmt.Sprintf("%s is the same payment if the partner has kept a fee of %s.", s.describe(other), s.amount(-remaining))
	default:
		return
	}
	s.found = append(s.found, found)
}

// describe says what another break is about.
func (s *suggester) describe(b *brokenItem) string {
	if b.Line != nil {
		return fmt.Sprintf("The statement line of %s on %s", s.amount(b.Line.Amount), b.day)
	}
	return fmt.Sprintf("Entry %d.%d of %s on %s", b.Entry.Seq, b.Entry.N, s.amount(b.Entry.Amount), b.day)
}

// suggestSums suggests several of the nearest breaks that together have the opposite difference: for
// each number of them, those of the nearest days.
func (s *suggester) suggestSums() {
	var candidates []*brokenItem
	for _, other := range s.others {
		if (other.Difference > 0) != (s.of.Difference > 0) && other.Difference != 0 && len(candidates) < maxSumCandidates {
			candidates = append(candidates, other)
		}
	}
	for count := 2; count <= maxSummands; count++ {
		if found := findSummands(candidates, s.of.Difference, count); found != nil {
			sum := Suggestion{Reason: SuggestSum}
			for _, b := range found {
				sum.Breaks = append(sum.Breaks, b.ID)
				sum.days = max(sum.days, b.daysTo(&s.of))
			}
			sum.Explanation = fmt.Sprintf("%d other open breaks add up to %s, at most %s apart.", count, s.amount(-s.of.Difference),
				formatDays(sum.days))
			s.found = append(s.found, sum)
		}
	}
}

// findSummands returns so many of the candidates that their differences and a remaining one add up to
// zero; nil if there are none.
func findSummands(candidates []*brokenItem, remaining int64, count int) []*brokenItem {
	if count == 0 {
		if remaining == 0 {
			return []*brokenItem{}
		}
		return nil
	}
	for i, candidate := range candidates {
		rest, err := money.AddMinor(remaining, candidate.Difference)
		// All candidates have the opposite direction: a sum that has passed zero does not come back.
		if err != nil || rest == 0 && count > 1 || rest != 0 && (rest > 0) != (remaining > 0) {
			continue
		}
		if found := findSummands(candidates[i+1:], rest, count-1); found != nil {
			return append([]*brokenItem{candidate}, found...)
		}
	}
	return nil
}

// minSimilarKey is the minimum length of a reference that is compared with its typing errors.
const minSimilarKey = 8

// similarKeys returns two keys that differ as from typing: in one character, or in two of longer ones.
// Words without digits are not references.
func similarKeys(of, others []string) (a, b string, ok bool) {
	isReference := func(k string) bool {
		return len(k) >= minSimilarKey && len(k) <= MaxReference && strings.ContainsAny(k, "0123456789")
	}
	for _, a := range of {
		for _, b := range others {
			if !isReference(a) || !isReference(b) {
				continue
			}
			most := 1
			if min(len(a), len(b)) >= 12 {
				most = 2
			}
			if max(len(a), len(b))-min(len(a), len(b)) <= most && typingDistance(a, b) <= most {
				return a, b, true
			}
		}
	}
	return "", "", false
}

// typingDistance returns the number of characters that were typed too much, too little, wrongly, or
// swapped with the next one (the restricted Damerau-Levenshtein distance).
func typingDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
