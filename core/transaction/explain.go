package transaction

import (
	"fmt"
	"slices"
	"strings"

	"causeway/ledger"
)

// Kinds are the postings that a just-in-time funded transaction in state s has,
// each exactly once: what it went through, and then the refund.
func (s State) Kinds() []ledger.Kind {
	var kinds []ledger.Kind
	switch s.Reached {
	case NothingMoved:
	case Received:
		kinds = append(kinds, ledger.KindJITReceived)
	case Converted:
		kinds = append(kinds, ledger.KindJITReceived, ledger.KindConverted)
	case Delivered:
		kinds = append(kinds, ledger.KindJITReceived, ledger.KindConverted, ledger.KindDelivered)
	}
	if s.Refund == NoRefund {
		return kinds
	}
	if s.Reached == Delivered {
		kinds = append(kinds, ledger.KindReturned)
	}
	if s.Reached != Received {
		kinds = append(kinds, ledger.KindReversal)
	}
	kinds = append(kinds, ledger.KindRefundOwed)
	switch s.Refund {
	case RefundCompleted:
		kinds = append(kinds, ledger.KindRefundPaid)
	case RefundNotPaid:
		kinds = append(kinds, ledger.KindRefundFailed)
	case NoRefund, RefundPending:
	}
	return kinds
}

// Explain tells whether the kinds that were posted are those that state s must
// have, and if not, in words.
func (s State) Explain(posted []ledger.Kind) error {
	want, got := s.Kinds(), slices.Clone(posted)
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("is %s and should have the postings [%s], but has [%s]", s, join(want), join(got))
}

func join(kinds []ledger.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, " ")
}
