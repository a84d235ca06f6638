package transaction

import (
	"fmt"
	"slices"
	"strings"

	"causeway/ledger"
)

// CheckKinds returns an error unless posted are the kinds of postings that a transaction must have in
// state s. The assignment of unmatched funds counts as the posting that received them.
func (f Flow) CheckKinds(s State, posted []ledger.Kind) error {
	want, got := f.Kinds(s), slices.Clone(posted)
	if i := slices.Index(got, ledger.KindUnmatchedAssigned); i >= 0 && f.Funding == JustInTime {
		got[i] = f.fundingKind()
	}
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("is %s and should have the postings [%s], but has [%s]", s, joinKinds(want), joinKinds(got))
}

func joinKinds(kinds []ledger.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, " ")
}
