package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// fakeActivity has what people have done on the platform.
type fakeActivity struct {
	*calls
	all    []ports.Activity
	filter ports.ActivityFilter
}

func (f *fakeActivity) List(ctx context.Context, filter ports.ActivityFilter) ([]ports.Activity, bool, error) {
	want := ports.Scope{Platform: filter.Platform}
	if filter.Platform.IsZero() {
		want = ports.Scope{AllPlatforms: true}
	}
	if scope, _ := ports.ScopeOf(ctx); scope != want {
		f.t.Errorf("what people did is read with the scope %+v", scope)
	}
	f.filter = filter
	page := listed(f.all, ports.Paging{Limit: filter.Limit, After: filter.After}, func(a ports.Activity) (uuid.UUID, bool) {
		return a.ID,
			true
	})
	return page.Items, page.More, f.call("activity")
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
	if links := got.elements("a"); attribute(links[len(links)-1], "href") != base+"/audit.csv"+"?actor=sam&from=2026-03-14T09%3A00&object="+
		escapeQuery(paymentID.String())+"&to=2026-03-14T10%3A00" {
		t.Errorf("download %s", attribute(links[len(links)-1], "href"))
	}
	for i := range 2500 {
		s.activity.all = append(s.activity.all, ports.Activity{ID: uuid.UUID{0: 2, 14: byte(i / 256), 15: byte(i)}, At: now,
			Actor: fmt.Sprintf("=cmd%d", i), Action: "RETRY_JOB"})
	}
	file := s.get(base + "/audit.csv?actor=sam")
	if lines := strings.Split(strings.TrimSpace(file.body), "\n"); len(lines) != 2502 || !strings.Contains(lines[2], ",'=cmd0,RETRY_JOB,") {
		t.Errorf("%d lines, %.200q", len(lines), file.body)
	}
	for _, path := range []string{"/audit?from=x", "/audit?object=x", "/audit.csv?to=x"} {
		if got := s.get(base + path); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if s.get(root + "/audit"); s.activity.filter.Platform != (ident.Platform{}) {
		t.Errorf("of the service as a whole: %+v", s.activity.filter)
	}
}
