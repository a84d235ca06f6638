package screening

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// screenedParty is a customer who is compared with one entry.
type screenedParty struct {
	compared Compared
	party    Party
}

func newScreenedParty() screenedParty {
	list := LoadedList{ID: uuid.New(), List: OFAC, PublishedAt: noon, Entries: 1}
	entry := Entry{List: OFAC, Ref: "36", Kind: Person, Names: []EntryName{{Text: "Ivan Testov"}}}
	s := screenedParty{compared: Compared{Lists: []LoadedList{list}, Threshold: DefaultThreshold,
		Index: NewIndex([]Entry{entry}, DefaultThreshold)}}
	s.party.Customer.SetUUID(uuid.New())
	s.party.Subject = Subject{Kind: Person, Names: []string{"Testow Ivan"}}
	return s
}

func (s screenedParty) hits(known []Hit, cleared []Clearance, now time.Time) (created, changed []Hit) {
	return s.compared.Hits(s.party, known, cleared, uuid.New, now)
}

func TestHits_AreRecordedOnceUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	// A hit is new once. A cleared one is open again when the entry or the subject changes; one that waits
	// goes on waiting since then; a confirmed one stays confirmed. What a review cleared is no hit.
	s := newScreenedParty()
	created, changed := s.hits(nil, nil, noon)
	if len(created) != 1 || len(changed) != 0 || created[0].EntryID() != "ofac:36" || created[0].Status != Open ||
		created[0].ListID != s.compared.Lists[0].ID ||
		created[0].Score < DefaultThreshold || len(created[0].Reasons) == 0 || created[0].Of() != s.party.Customer.String() ||
		!created[0].FoundAt.Equal(noon) {
		t.Fatalf("created %+v, changed %+v", created, changed)
	}
	hit := created[0]
	if created, changed := s.hits([]Hit{hit}, nil, noon.Add(time.Hour)); len(created)+len(changed) != 0 {
		t.Errorf("again: %+v, %+v", created, changed)
	}
	if created, changed := s.hits(nil, []Clearance{hit.Clearance}, noon); len(created)+len(changed) != 0 {
		t.Errorf("cleared by a review: %+v, %+v", created, changed)
	}

	renamed := s
	renamed.party.Names = []string{"Testov Iwan"}
	other := s
	other.compared.Index = NewIndex([]Entry{{List: OFAC, Ref: "36", Kind: Person, Names: []EntryName{{Text: "Ivan Testov"}},
		Programs: []string{"X"}}}, DefaultThreshold)
	for name, c := range map[string]struct {
		screenedParty
		status HitStatus
		opens  bool
		since  time.Time
	}{
		"cleared, nothing changed": {s, Cleared, false, noon},
		"cleared, renamed":         {renamed, Cleared, true, noon.Add(time.Hour)},
		"cleared, other entry":     {other, Cleared, true, noon.Add(time.Hour)},
		"open, renamed":            {renamed, Open, true, noon},
		"confirmed, renamed":       {renamed, Confirmed, false, noon},
	} {
		known := hit
		known.Status, known.By = c.status, "ana"
		created, changed := c.hits([]Hit{known}, nil, noon.Add(time.Hour))
		if len(created) != 0 || (len(changed) == 1) != c.opens {
			t.Errorf("%s: created %+v, changed %+v", name, created, changed)
			continue
		}
		if c.opens && (changed[0].ID != hit.ID || changed[0].Status != Open || !changed[0].FoundAt.Equal(c.since) || changed[0].By != "ana") {
			t.Errorf("%s: %+v", name, changed[0])
		}
	}
}

func TestJudge_NamedOpenHits(t *testing.T) {
	t.Parallel()
	// A verdict applies to the named entries of one party. Others are refused, as is one that is decided;
	// only an entry that was cleared by mistake can be confirmed.
	s := newScreenedParty()
	created, _ := s.hits(nil, nil, noon)
	of := s.party.String()
	v := Verdict{Status: Cleared, By: "ana", Reason: "ticket 17", At: noon}
	judged, err := Judge(created, of, []string{"ofac:36"}, v)
	if err != nil || len(judged) != 1 || judged[0].Status != Cleared || judged[0].By != "ana" || judged[0].Reason != "ticket 17" ||
		!judged[0].DecidedAt.Equal(noon) {
		t.Fatalf("%+v, %v", judged, err)
	}
	if cleared := ClearedHits(judged, ident.BeneficialOwner{}); len(cleared) != 1 || cleared[0] != created[0].Clearance {
		t.Errorf("cleared %+v", cleared)
	}
	for name, c := range map[string]struct {
		hits    []Hit
		of      string
		entries []string
		want    fault.Code
	}{
		"decided":       {judged, of, []string{"ofac:36"}, fault.Conflict},
		"another entry": {created, of, []string{"ofac:37"}, fault.InvalidInput},
		"another party": {created, "Customer:x", []string{"ofac:36"}, fault.InvalidInput},
		"none":          {created, of, nil, fault.InvalidInput},
	} {
		if _, err := Judge(c.hits, c.of, c.entries, v); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	confirm := Verdict{Status: Confirmed, By: "ben", Reason: "ticket 18", At: noon}
	confirmed, err := Judge(judged, of, []string{"ofac:36"}, confirm)
	if err != nil || len(confirmed) != 1 || confirmed[0].Status != Confirmed || confirmed[0].By != "ben" {
		t.Fatalf("confirmed after it was cleared: %+v, %v", confirmed, err)
	}
	for _, v := range []Verdict{v, confirm} {
		if _, err := Judge(confirmed, of, []string{"ofac:36"}, v); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s after it was confirmed: %v, want CONFLICT", v.Status, err)
		}
	}
	for name, bad := range map[string]Verdict{"nobody": {Status: Cleared, Reason: "x"}, "no reason": {Status: Cleared, By: "ana"},
		"open": {Status: Open, By: "ana", Reason: "x"}} {
		if err := bad.Check(); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
}

func TestClear_NeedsOpenHitsThatMatchNoMore(t *testing.T) {
	t.Parallel()
	// A hit that waits has to be named also after the list or the name changed.
	s := newScreenedParty()
	open, _ := s.hits(nil, nil, noon)
	if _, err := Clear(s.party.Subject, nil, open, nil, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("not named: %v, want CONFLICT", err)
	}
	if cleared, err := Clear(s.party.Subject, nil, open, []string{"ofac:36"}, nil); err != nil || len(cleared) != 0 {
		t.Errorf("named: %v, %v", cleared, err)
	}
}

func TestCheckReplacement_RefusesAListThatShrinks(t *testing.T) {
	t.Parallel()
	// A list may lose a tenth of its entries; other lists do not count.
	loaded := []LoadedList{{List: OFAC, Entries: 1000}, {List: EU, Entries: 5000}}
	for _, c := range []struct {
		list    List
		entries int
		ok      bool
	}{{OFAC, 1000, true}, {OFAC, 900, true}, {OFAC, 899, false}, {OFAC, 2000, true}, {EU, 1000, false}, {"other", 1, true}} {
		if err := CheckReplacement(loaded, LoadedList{List: c.list, Entries: c.entries}); (err == nil) != c.ok || err != nil &&
			!fault.Is(err, fault.Conflict) {
			t.Errorf("%s with %d: %v", c.list, c.entries, err)
		}
	}
}

func TestRun_ProceedsUntilABatchIsNotFull(t *testing.T) {
	t.Parallel()
	// A run counts, remembers the last customer, and ends with the batch that is not full.
	var batch []customer.Customer
	for range 2 {
		var c customer.Customer
		c.ID.SetUUID(uuid.New())
		batch = append(batch, c)
	}
	r := Run{Status: RunRunning}.Proceed(batch, 2, 3, 1, noon)
	if r.Status != RunRunning || r.After != batch[1].ID || r.Customers != 2 || r.Owners != 3 || r.Hits != 1 {
		t.Errorf("%+v", r)
	}
	if r = r.Proceed(batch[:1], 2, 0, 0, noon); r.Status != RunCompleted || r.Customers != 3 {
		t.Errorf("%+v", r)
	}
}
