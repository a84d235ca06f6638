package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	// A valid posting with any one field made invalid is refused, and the message names it.
	valid := func() ledger.Posting { return ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(10050)) }
	for name, c := range map[string]struct {
		change  func(p *ledger.Posting)
		message string // empty if the posting is still valid
	}{
		"nothing":                 {func(p *ledger.Posting) {}, ""},
		"largest amount":          {func(p *ledger.Posting) { p.Entries[0].Amount = ledger.MaxAmount }, ""},
		"no transaction":          {func(p *ledger.Posting) { p.Transaction = ident.Transaction{} }, ""},
		"longest memo":            {func(p *ledger.Posting) { p.Memo = strings.Repeat("a", ledger.MaxMemo) }, ""},
		"most entries":            {func(p *ledger.Posting) { p.Entries = repeat(p.Entries[0], ledger.MaxEntries) }, ""},
		"no id":                   {func(p *ledger.Posting) { p.ID = uuid.Nil }, "no id"},
		"no platform":             {func(p *ledger.Posting) { p.Platform = ident.Platform{} }, "no platform"},
		"no kind":                 {func(p *ledger.Posting) { p.Kind = "" }, "unknown"},
		"unknown kind":            {func(p *ledger.Posting) { p.Kind = "gift" }, "unknown"},
		"no time":                 {func(p *ledger.Posting) { p.Effective = time.Time{} }, "effective time"},
		"reversal of nothing":     {func(p *ledger.Posting) { p.Kind = ledger.KindReversal }, "a reversal"},
		"reverses but is none":    {func(p *ledger.Posting) { p.Reverses = postingID(9) }, "a reversal"},
		"reverses itself":         {func(p *ledger.Posting) { p.Kind, p.Reverses = ledger.KindReversal, p.ID }, "itself"},
		"long memo":               {func(p *ledger.Posting) { p.Memo = strings.Repeat("a", ledger.MaxMemo+1) }, "memo"},
		"memo with a zero byte":   {func(p *ledger.Posting) { p.Memo = "a\x00b" }, "memo"},
		"memo not UTF-8":          {func(p *ledger.Posting) { p.Memo = "\xff" }, "memo"},
		"no entries":              {func(p *ledger.Posting) { p.Entries = nil }, "no entries"},
		"too many entries":        {func(p *ledger.Posting) { p.Entries = repeat(p.Entries[0], ledger.MaxEntries+1) }, "257 entries"},
		"amount zero":             {func(p *ledger.Posting) { p.Entries[0].Amount = 0 }, "amount 0"},
		"amount below zero":       {func(p *ledger.Posting) { p.Entries[0].Amount = -1 }, "amount -1"},
		"amount too large":        {func(p *ledger.Posting) { p.Entries[0].Amount = ledger.MaxAmount + 1 }, "amount 9000000000000001"},
		"unknown currency":        {func(p *ledger.Posting) { p.Entries[0].Currency = "XXQ" }, "currency"},
		"no currency":             {func(p *ledger.Posting) { p.Entries[0].Currency = "" }, "currency"},
		"account to itself":       {func(p *ledger.Posting) { p.Entries[0].Credit = p.Entries[0].Debit }, "itself"},
		"debit outside the chart": {func(p *ledger.Posting) { p.Entries[0].Debit = "rails/rtp" }, "chart"},
		"credit outside the chart": {
			func(p *ledger.Posting) { p.Entries[0].Credit = "funding/other" }, "entry 1, rails/RTP → funding/other: not in the chart"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := valid()
			c.change(&p)

			err := p.Validate()

			switch {
			case c.message == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.message != "" && (!errors.Is(err, ledger.ErrInvalid) || !strings.Contains(err.Error(), c.message)):
				t.Errorf("got %v, want ErrInvalid with %q", err, c.message)
			}
		})
	}
}

func repeat(e ledger.Entry, n int) []ledger.Entry {
	entries := make([]ledger.Entry, n)
	for i := range entries {
		entries[i] = e
	}
	return entries
}
