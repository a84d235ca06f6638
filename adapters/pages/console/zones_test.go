package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/person"
)

// in makes the person of the session see times in a zone.
func (s *site) in(zone string) *site {
	in := s.people.sessions[s.secret]
	in.Person.TimeZone = zone
	s.people.sessions[s.secret] = in
	return s
}

func TestZones_EveryTime(t *testing.T) {
	t.Parallel()
	// A person sees every time in its zone, with UTC beside it; one that has chosen none, or one that is no longer known, sees UTC.
	shown := func(zone string) string {
		s := newSite(t).fill().as(person.Grant{Role: person.Administrator}).in(zone)
		var all strings.Builder
		for _, r := range s.routes {
			if r.method == http.MethodGet && strings.HasPrefix(r.pattern, platformPath+"{platform}") && !strings.Contains(r.pattern, ".") &&
				!strings.HasSuffix(r.pattern, "/stream") && !strings.HasSuffix(r.pattern, "/file") {
				all.WriteString(s.visit(r, ownPlatform).body)
			}
		}
		return all.String()
	}
	prefix := `datetime="` + now.UTC().Format("2006-01-02T15:04:05")
	for zone, want := range map[string]string{"": "UTC", "Nowhere/Land": "UTC", "Asia/Kolkata": "IST", "America/New_York": "E"} {
		text := shown(zone)
		if strings.ContainsAny(text, "\x00\uFFFD") {
			t.Errorf("%s: a time is not shown as one", zone)
		}
		n := 0
		for _, part := range strings.Split(text, prefix)[1:] {
			title := ` title="` + now.UTC().Format("2006-01-02 15:04:05") + ` UTC"`
			element, _, _ := strings.Cut(part, "</time>")
			_, words, _ := strings.Cut(element, ">")
			if !strings.Contains(element, title) || !strings.Contains(words, want) {
				t.Fatalf("%s: %s", zone, element)
			}
			n++
		}
		if n < 30 {
			t.Errorf("%s: %d times", zone, n)
		}
		if zone == "Asia/Kolkata" && !strings.Contains(text, "Times are in the zone Asia/Kolkata") {
			t.Error("the zone is not named")
		}
	}
}

func TestZones_MinutesOfClockChanges(t *testing.T) {
	t.Parallel()
	// A minute is read in the zone of the person. One that occurs twice is the first where a time begins and the last where it ends; one
	// that never occurs is refused.
	for _, c := range []struct{ zone, text, first, last string }{
		{"", "2026-03-29T02:30", "2026-03-29T02:30:00Z", "2026-03-29T02:30:00Z"},
		{"Europe/Berlin", "2026-07-01T12:00", "2026-07-01T10:00:00Z", "2026-07-01T10:00:00Z"},
		{"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"Europe/Berlin", "2026-03-29T02:30", "", ""},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"},
		{"Asia/Kolkata", "2026-01-01T00:00", "2025-12-31T18:30:00Z", "2025-12-31T18:30:00Z"},
		{"Asia/Kolkata", "2026-01-01 00:00", "", ""},
	} {
		z, err := zoneOf(person.Person{TimeZone: c.zone})
		if err != nil {
			t.Fatal(err)
		}
		for e, want := range map[edge]string{first: c.first, last: c.last} {
			got, problem := z.parse(c.text, e)
			if (problem != "") != (want == "") || want != "" && got.Format(time.RFC3339) != want {
				t.Errorf("%s in %q: %s, %q; want %s", c.text, c.zone, got.Format(time.RFC3339), problem, want)
			}
		}
	}
}

func TestZones_FiltersSayTheirs(t *testing.T) {
	t.Parallel()
	// The filters of payments and of the audit name the zone and read minutes in it, the list as the file.
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator}).in("Europe/Berlin")
	for _, path := range []string{"/payments", "/audit"} {
		got := s.get(base + path + "?from=2026-10-25T02:30&to=2026-10-25T02:30")
		if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "From (Europe/Berlin)") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
		if got := s.get(base + path + "?from=2026-03-29T02:30"); got.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(got.body, "From does not occur in the zone Europe/Berlin") {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	_, filter, problems := filterOf(url.Values{"from": {"2026-10-25T02:30"}, "to": {"2026-10-25T02:30"}},
		(&request{Request: &http.Request{}, in: s.people.sessions[s.secret]}).zone())
	if len(problems) > 0 || filter.Created.To.Sub(filter.Created.From) != time.Hour+time.Minute {
		t.Errorf("%v, %q", filter.Created, problems)
	}
}

func TestZones_SetOnTheAccount(t *testing.T) {
	t.Parallel()
	// A person sets its zone on the page of its account; one that is not known is shown again with what is wrong.
	s := newSite(t).as(person.Grant{Role: person.Viewer}).in("Asia/Tokyo")
	if got := s.get(accountPath); !strings.Contains(got.body, `value="Asia/Tokyo"`) {
		t.Error(got.body)
	}
	if got := s.post(accountPath+"/time-zone", url.Values{"zone": {"Europe/Paris"}}); got.Header.Get("Location") != accountPath {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	s.people.err = fault.Invalid(fault.Field{Field: "zone", Message: "must be a time zone"})
	if got := s.post(accountPath+"/time-zone", url.Values{"zone": {"Middle/Earth"}}); got.StatusCode == http.StatusSeeOther {
		t.Errorf("%d", got.StatusCode)
	}
}

func TestFXPosition_TimesInTheZone(t *testing.T) {
	t.Parallel()
	// The times of rates are shown in the zone of the person, as every other.
	s := asFinance(t).in("Asia/Kolkata")
	s.accounting.position.Lines[0].RateAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if got := s.get(base + "/fx-position"); !strings.Contains(got.body, "2026-03-01 17:30:00 IST</time></td>") {
		t.Errorf("%s", got.body)
	}
}
