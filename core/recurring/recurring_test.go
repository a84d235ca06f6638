package recurring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/recurring"
	"causeway/ledger"
)

var january = period.MonthOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func after(m period.Month, months int) period.Month {
	for range months {
		m = m.Next()
	}
	return m
}

func accrual(amount int64) recurring.Version {
	v := recurring.Version{Name: "rent", Note: "Rent", Reverses: true, First: january,
		Entries: []ledger.Entry{{Debit: "expense/rent", Credit: "liability/accrued", Currency: "USD", Amount: amount}}}
	v.Platform.SetUUID(uuid.UUID{7: 0x70, 15: 1})
	return v
}

func TestVersion_Check(t *testing.T) {
	t.Parallel()
	// What is wrong is named, all at once; accounts that must not be posted to without a person are refused.
	now := january.End()
	for name, c := range map[string]struct {
		change func(*recurring.Version)
		want   []string
	}{
		"right": {func(*recurring.Version) {}, nil},
		"everything": {func(v *recurring.Version) {
			*v = recurring.Version{Name: "Rent!", First: period.Earliest}
		}, []string{"note", "entries", "name", "first"}},
		"a long note": {func(v *recurring.Version) { v.Note = strings.Repeat("x", 401) }, []string{"note"}},
		"in transit":  {func(v *recurring.Version) { v.Entries[0].Credit = ledger.TransitInternal }, []string{"entries[0]"}},
		"of customers": {func(v *recurring.Version) { v.Entries[0].Credit = "customers/" + ident.InternalAccount{}.String() },
			[]string{"entries[0].credit"}},
		"a last month long before the first": {func(v *recurring.Version) { v.Last = v.First.Previous().Previous() }, []string{"last"}},
		"an ending":                          {func(v *recurring.Version) { v.Last = v.First.Previous() }, nil},
		"held money, reversed": {func(v *recurring.Version) { v.Reverses, v.Entries[0].Credit = true, "rails/ACH" },
			[]string{"entries"}},
		"held money": {func(v *recurring.Version) { v.Reverses, v.Entries[0].Credit = false, "rails/ACH" }, nil},
	} {
		v := accrual(5)
		c.change(&v)
		var fields []string
		for _, f := range v.Check(now) {
			fields = append(fields, f.Field)
		}
		if !slices.Equal(fields, c.want) {
			t.Errorf("%s: %q, want %q", name, fields, c.want)
		}
	}
}

func TestEntries_AreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	entries, err := recurring.ParseEntries("expense/rent liability/accrued 1200.00 USD\n\n income/fees  expense/rails 3 JPY \r\n")
	if err != nil || len(entries) != 2 || entries[0].Amount != 1200_00 || entries[1].Amount != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	again, err := recurring.ParseEntries(recurring.FormatEntries(entries))
	if err != nil || !slices.Equal(again, entries) {
		t.Errorf("%v, %v", again, err)
	}
	for _, text := range []string{"expense/rent liability/accrued 1200.00", "a b 1.001 USD", "a b x USD", "a b 1 XXX"} {
		if entries, err := recurring.ParseEntries(text); err == nil {
			t.Errorf("%s: %v", text, entries)
		}
	}
}

// books is a ledger with the recurring adjustments of a platform, as the service keeps them.
type books struct {
	calendar period.Calendar
	of       recurring.Adjustment
	runs     []recurring.Run
	balance  map[string]int64
	posted   map[uuid.UUID]bool
	// over: nothing more is posted, unless the adjustment is changed.
	over bool
}

// run posts what is due.
func (b *books) run(t *rapid.T, now time.Time) {
	defer func() { b.over = b.of.IsOver(b.runs, b.calendar, now) }()
	for _, due := range b.of.Due(b.runs, b.calendar, now) {
		if b.over {
			t.Fatalf("%+v is due after the last month", due)
		}
		run, postings, authorised := due.Post(now)
		if len(authorised) != len(postings) || (run.Reversal != uuid.Nil) != (len(postings) == 2) {
			t.Fatalf("%d postings of %+v, %d are authorised", len(postings), run, len(authorised))
		}
		for i, p := range postings {
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			if b.posted[p.ID] {
				t.Fatalf("%s is posted twice", p.Memo)
			}
			if b.calendar.State(period.MonthOf(p.Effective)) == period.Closed {
				t.Fatalf("%s is posted into a closed month", p.Memo)
			}
			if i == 1 && (!p.IsReversalOf(postings[0]) || !p.Effective.Equal(due.Month.End())) {
				t.Fatalf("%v does not reverse %v", p, postings[0])
			}
			b.posted[p.ID] = true
			for _, e := range p.Entries {
				b.balance[e.Debit] += e.Amount
				b.balance[e.Credit] -= e.Amount
			}
		}
		b.runs = append(b.runs, run)
	}
}

func TestAdjustment_AccrualsComeToZero(t *testing.T) {
	t.Parallel()
	// Whatever is approved, changed, ended and run, and whichever months are closed between, in any order: a month is posted once and by
	// the version that was in force for it, nothing is posted into a closed month, no month is closed without what it needs, and accruals
	// with their reversals come to zero.
	rapid.Check(t, func(t *rapid.T) {
		b := books{balance: map[string]int64{}, posted: map[uuid.UUID]bool{}}
		now := january.Start().Add(time.Hour)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"set", "end", "run", "run", "close", "wait"}).Draw(t, "step") {
			case "set":
				v := accrual(rapid.Int64Range(1, 1000).Draw(t, "amount"))
				v.First = after(january, rapid.IntRange(0, 12).Draw(t, "first"))
				if rapid.Bool().Draw(t, "ends") {
					v.Last = after(v.First, rapid.IntRange(0, 5).Draw(t, "months"))
				}
				b.change(t, v)
			case "end":
				if len(b.of) > 0 {
					b.change(t, b.of.End(after(january, rapid.IntRange(0, 12).Draw(t, "last"))))
				}
			case "run":
				b.run(t, now)
			case "wait":
				now = now.AddDate(0, 0, rapid.IntRange(1, 40).Draw(t, "days"))
			case "close":
				b.close(t, now)
			}
		}
		b.run(t, now)
		if due := b.of.Due(b.runs, b.calendar, now); len(due) > 0 {
			t.Fatalf("still due: %v", due)
		}
		for path, balance := range b.balance {
			if balance != 0 {
				t.Fatalf("%s has %d", path, balance)
			}
		}
		for _, run := range b.runs {
			if due := (recurring.Due{Version: b.of[run.Version-1], Month: run.Month}); due.Posting() != run.Posting {
				t.Fatalf("%+v is not that of its version", run)
			}
		}
	})
}

func (b *books) change(t *rapid.T, v recurring.Version) {
	next, err := b.of.Change(v, b.runs, b.calendar)
	if err != nil {
		return
	}
	if next.Number != len(b.of)+1 {
		t.Fatalf("version %d of %d", next.Number, len(b.of))
	}
	b.of, b.over = append(b.of, next), false
}

func (b *books) close(t *rapid.T, now time.Time) {
	m := b.calendar.FirstUnclosed
	if m.IsZero() {
		m = january
	}
	for _, due := range b.of.Due(b.runs, b.calendar, now) {
		if due.Month == m {
			return
		}
	}
	for _, action := range []period.Action{period.SoftClose, period.Close} {
		next, err := b.calendar.Apply(action, m, now)
		if err != nil {
			return
		}
		b.calendar = next
	}
	if v, covered := b.of.For(m); covered && !slices.ContainsFunc(b.runs, func(r recurring.Run) bool { return r.Month == m }) {
		t.Fatalf("%s is closed without version %d", m, v.Number)
	}
}

func TestAdjustment_Change(t *testing.T) {
	t.Parallel()
	// What is posted or closed does not change, and what is not in force cannot be ended.
	v := accrual(5)
	var a recurring.Adjustment
	if _, err := a.Change(a.End(january), nil, period.Calendar{}); err == nil {
		t.Error("ended what does not exist")
	}
	first, err := a.Change(v, nil, period.Calendar{})
	if err != nil {
		t.Fatal(err)
	}
	a = append(a, first)
	run, _, _ := a.Due(nil, period.Calendar{}, january.End())[0].Post(january.End())
	if _, err := a.Change(v, []recurring.Run{run}, period.Calendar{}); err == nil {
		t.Error("changed what is posted")
	}
	closed := period.Calendar{First: january, FirstUnclosed: january.Next(), FirstOpen: january.Next()}
	if _, err := a.Change(v, nil, closed); err == nil {
		t.Error("changed a closed month")
	}
	ended, err := a.Change(a.End(january), []recurring.Run{run}, closed)
	if err != nil || !ended.Ends() {
		t.Fatalf("%+v, %v", ended, err)
	}
	a = append(a, ended)
	if due := a.Due([]recurring.Run{run}, closed, after(january, 5).Start()); len(due) > 0 {
		t.Errorf("due after its end: %v", due)
	}
	if _, err := a.Change(a.End(january), nil, closed); err == nil {
		t.Error("ended twice")
	}
}

func TestAdjustment_ChangeEndsOnlyWhatGoesOn(t *testing.T) {
	t.Parallel()
	// One with a last month is ended after an earlier one, also if it was ended before, and not after that month or a later one, which
	// would take nothing away.
	v := accrual(5)
	v.Last = after(january, 3)
	a := recurring.Adjustment{v}
	for _, last := range []int{3, 4} {
		if _, err := a.Change(a.End(after(january, last)), nil, period.Calendar{}); err == nil {
			t.Errorf("ended after month %d, of 3", last)
		}
	}
	for _, last := range []int{2, 0} {
		ended, err := a.Change(a.End(after(january, last)), nil, period.Calendar{})
		if err != nil {
			t.Fatal(err)
		}
		a = append(a, ended)
		if due := a.Due(nil, period.Calendar{}, after(january, 9).Start()); len(due) != last+1 {
			t.Errorf("%d months are due, want %d", len(due), last+1)
		}
	}
}

func TestCheckNumber(t *testing.T) {
	t.Parallel()
	// As many go on at the same time as are allowed. Those that have ended, and those whose last month is over and posted, do not count.
	now := after(january, 2).Start()
	posts := func(change func(*recurring.Version)) (all []recurring.Adjustment, runs []recurring.Run) {
		for i := range recurring.MaxAdjustments {
			v := accrual(5)
			v.Name = fmt.Sprintf("accrual-%d", i)
			change(&v)
			all = append(all, recurring.Adjustment{v})
			runs = append(runs, recurring.Run{Name: v.Name, Month: january})
		}
		return all, runs
	}
	for name, c := range map[string]struct {
		change  func(*recurring.Version)
		posted  int
		refused bool
	}{
		"without a last month":      {func(*recurring.Version) {}, recurring.MaxAdjustments, true},
		"ended":                     {func(v *recurring.Version) { v.Last = v.First.Previous() }, 0, false},
		"of a month, posted":        {func(v *recurring.Version) { v.Last = january }, recurring.MaxAdjustments, false},
		"of a month, one is posted": {func(v *recurring.Version) { v.Last = january }, 1, false},
		"of a month, not posted":    {func(v *recurring.Version) { v.Last = january }, 0, true},
		"of the present month":      {func(v *recurring.Version) { v.First = after(january, 2); v.Last = v.First }, 0, true},
	} {
		all, runs := posts(c.change)
		err := recurring.CheckNumber(all, accrual(5), runs[:c.posted], period.Calendar{}, now)
		if f, ok := fault.As(err); ok != c.refused || ok && f.Reason != "Too many recurring adjustments" {
			t.Errorf("%s: %v", name, err)
		}
		if err := recurring.CheckNumber(all[1:], accrual(5), nil, period.Calendar{}, now); err != nil {
			t.Errorf("%s: with one less: %v", name, err)
		}
		changed := all[0][0]
		changed.Last = period.Month{}
		if err := recurring.CheckNumber(all, changed, nil, period.Calendar{}, now); err != nil {
			t.Errorf("%s: a change of one of them: %v", name, err)
		}
	}
}
