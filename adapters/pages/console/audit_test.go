package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// entryID is that of what was done.
var entryID = uuid.UUID{0: 1, 15: 80}

// fakeActivity has what people have done on the platform.
type fakeActivity struct {
	*calls
	all    []ports.Activity
	filter ports.ActivityFilter
	most   int // is the largest number that was read at once
}

func (f *fakeActivity) List(ctx context.Context, filter ports.ActivityFilter) ([]ports.Activity, bool, error) {
	want := ports.Scope{Platform: filter.Platform}
	if filter.Platform.IsZero() {
		want = ports.Scope{AllPlatforms: true}
	}
	if scope, _ := ports.ScopeOf(ctx); scope != want {
		f.t.Errorf("what people did is read with the scope %+v", scope)
	}
	f.filter, f.most = filter, max(f.most, filter.Limit)
	page := listed(f.all, ports.Paging{Limit: filter.Limit, After: filter.After}, func(a ports.Activity) (uuid.UUID, bool) {
		return a.ID,
			true
	})
	return page.Items, page.More, f.call("activity")
}

func (f *fakeActivity) Get(_ context.Context, p ident.Platform, id uuid.UUID) (ports.Activity, error) {
	f.filter = ports.ActivityFilter{Platform: p, ID: id}
	i := slices.IndexFunc(f.all, func(a ports.Activity) bool { return a.ID == id })
	if i < 0 {
		return ports.Activity{}, fault.New(fault.NotFound, "There is no such entry.")
	}
	return f.all[i], f.call("activity")
}

func TestAudit_ChangedFields(t *testing.T) {
	t.Parallel()
	// The page of an entry has each field with its values before and after; the list and the files have them too, the list in short. A
	// hidden value is nowhere, and who does not see connections sees no setting of one.
	s := newSite(t).fill().as(person.Grant{Role: person.Compliance})
	limits := ports.Activity{ID: uuid.UUID{0: 2, 15: 1}, At: now, Actor: "ana", Action: "SET_LIMIT", Subject: "USD",
		Changes: []diff.Field{{Name: "daily", Before: "10.00 USD", After: "20.00 USD"}, {Name: "email", Hidden: true}}}
	connection := ports.Activity{ID: uuid.UUID{0: 2, 15: 2}, At: now, Actor: "ana", Action: "SET_CONNECTION", Subject: "bank",
		Changes: []diff.Field{{Name: "settings.url", Before: "https://old.bank", After: "https://new.bank"}}}
	many := ports.Activity{ID: uuid.UUID{0: 2, 15: 3}, At: now, Actor: "ana", Action: "UPDATE_PLATFORM"}
	for i := range 12 {
		many.Changes = append(many.Changes, diff.Field{Name: fmt.Sprintf("setting%02d", i), After: "x"})
	}
	s.activity.all = []ports.Activity{limits, connection, many}

	list := s.get(base + "/audit").body
	entry := s.get(base + "/audit/" + limits.ID.String()).body
	csv, asJSON := s.get(base+"/audit.csv").body, s.get(base+"/audit.json").body

	for name, c := range map[string]struct{ text, want string }{
		"list": {list, "daily: 10.00 USD → 20.00 USD; email changed"}, "long list": {list, "12 fields"}, "connection": {list,
			"settings.url changed"},
		"entry": {entry, "20.00 USD"}, "hidden": {entry, "hidden"}, "csv": {csv, "daily: 10.00 USD → 20.00 USD; email changed"},
		"json": {asJSON, `"changes":[{"field":"daily","before":"10.00 USD","after":"20.00 USD"},` +
			`{"field":"email","before":"","after":"","hidden":true}]`},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s without %q: %s", name, c.want, c.text)
		}
	}
	for name, text := range map[string]string{"list": list, "csv": csv, "json": asJSON,
		"entry": s.get(base + "/audit/" + connection.ID.String()).body} {
		if strings.Contains(text, "new.bank") {
			t.Errorf("%s shows settings of a connection: %s", name, text)
		}
	}
	if got := s.as(person.Grant{Role: person.Finance}).get(base + "/audit/" + connection.ID.String()); !strings.Contains(got.body,
		"new.bank") {
		t.Errorf("who approves changes of connections does not see them: %s", got.body)
	}
	for _, path := range []string{"/audit/x", "/audit/" + uuid.UUID{15: 9}.String()} {
		if got := s.get(base + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestAudit_FilteredAndDownloaded(t *testing.T) {
	t.Parallel()
	// The list is filtered by person, object and time, in whole minutes, and the file has what the list has, over all of its pages.
	s := newSite(t).fill().as(person.Grant{Role: person.Compliance})
	query := "?actor=sam&object=" + escapeQuery(paymentID.String()) + "&from=2026-03-14T09:00&to=2026-03-14T10:00"
	got := s.get(base + "/audit" + query)
	want := ports.ActivityFilter{Platform: ownPlatform, Actor: "sam", SubjectID: paymentID.UUID(), Limit: pageSize}
	want.At.From, want.At.To = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC), time.Date(2026, 3, 14, 10, 1, 0, 0, time.UTC)
	if s.activity.filter != want || !strings.Contains(got.body, "release payout") || !strings.Contains(got.body, "Known") {
		t.Errorf("filter %+v, want %+v: %s", s.activity.filter, want, got.body)
	}
	if links := got.elements("a"); attribute(links[len(links)-2], "href") != base+"/audit.csv"+"?actor=sam&from=2026-03-14T09%3A00&object="+
		escapeQuery(paymentID.String())+"&to=2026-03-14T10%3A00" {
		t.Errorf("download %s", attribute(links[len(links)-2], "href"))
	}
	for i := range 2500 {
		s.activity.all = append(s.activity.all, ports.Activity{ID: uuid.UUID{0: 2, 14: byte(i / 256), 15: byte(i)}, At: now,
			Actor: fmt.Sprintf("=cmd%d", i), Action: "RETRY_JOB"})
	}
	file := s.get(base + "/audit.csv?actor=sam")
	if lines := strings.Split(strings.TrimSpace(file.body), "\n"); len(lines) != 2502 || !strings.Contains(lines[2], ",'=cmd0,RETRY_JOB,") {
		t.Errorf("%d lines, %.200q", len(lines), file.body)
	}
	var all []auditEntry
	if err := json.Unmarshal([]byte(s.get(base+"/audit.json?actor=sam").body), &all); err != nil || len(all) != 2501 {
		t.Errorf("%d entries: %v", len(all), err)
	}
	if s.activity.most > 1000 {
		t.Errorf("a file is made of %d entries at once", s.activity.most)
	}
	for _, path := range []string{"/audit?from=x", "/audit.csv?to=x"} {
		if got := s.get(base + path); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	// An object is found by what the list shows of it: its id, with a name or without, or its name alone.
	for text, want := range map[string]ports.ActivityFilter{"2026-10": {Subject: "2026-10"}, "bank-eur": {Subject: "bank-eur"},
		"deliver " + paymentID.UUID().String(): {SubjectID: paymentID.UUID()}, paymentID.UUID().String(): {SubjectID: paymentID.UUID()}} {
		s.get(base + "/audit?object=" + escapeQuery(text))
		if f := s.activity.filter; f.SubjectID != want.SubjectID || f.Subject != want.Subject {
			t.Errorf("%s: %+v", text, f)
		}
	}
	s.activity.all = []ports.Activity{{ID: uuid.UUID{15: 1}, At: now, Actor: "Ana", Action: "WRITE_OFF_RECEIVABLE",
		Subject: "Receivable:0190"}}
	if got := s.get(base + "/audit"); !strings.Contains(got.body, `href="`+base+`/receivables/0190"`) {
		t.Errorf("the page of the object is not linked: %s", got.body)
	}
	s.activity.all = nil
	for _, path := range []string{base, root} {
		if got := s.get(path + "/audit.json"); got.StatusCode != http.StatusOK || got.body != "[]\n" {
			t.Errorf("nothing as JSON: %d %q", got.StatusCode, got.body)
		}
	}
	if s.get(root + "/audit"); s.activity.filter.Platform != (ident.Platform{}) {
		t.Errorf("of the service as a whole: %+v", s.activity.filter)
	}
}
