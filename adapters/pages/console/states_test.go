package console

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

func TestPages_EveryTemplateWithEverythingAndNothing(t *testing.T) {
	t.Parallel()
	// Every page is shown where everything has happened, and where nothing has: in whole, with one heading, with links and forms
	// that lead to pages that exist. Each role sees what it may.
	for _, role := range person.Roles {
		for name, s := range map[string]*site{"full": newSite(t).fill(), "empty": newSite(t), "reduced": newSite(t).fill().reduce()} {
			s.as(person.Grant{Role: role})
			for _, r := range s.routes {
				if strings.HasPrefix(r.pattern, root+"/static/") || isFile(r) || r.pattern == root+"/sign-out" {
					continue
				}
				s.as(person.Grant{Role: role}) // a new session may have begun
				got := s.visit(r, ownPlatform)
				if got.StatusCode != http.StatusSeeOther {
					s.checkStructure(name+" "+string(role)+" "+r.String(), got)
				}
				if got.StatusCode == http.StatusInternalServerError || s.log.Len() > 0 {
					t.Fatalf("%s: %s: %d, log %s", name, r, got.StatusCode, s.log)
				}
			}
		}
	}
}

func TestPages_EveryEventOfATimeline(t *testing.T) {
	t.Parallel()
	// The timeline says something about every type of event, and not what it says of another one.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	said := map[string]accounting.TimelineEventType{}
	for _, e := range s.accounting.timeline.Events {
		row := newTimelineRow(s.accounting.timeline, e, base, person.Mask)
		if other, ok := said[row.Kind]; row.Kind == "" || ok && other != e.Type {
			t.Errorf("%s is %q, as %s is", e.Type, row.Kind, other)
		}
		said[row.Kind] = e.Type
	}
	for _, kind := range accounting.TimelineEventTypes {
		if !slices.ContainsFunc(s.accounting.timeline.Events, func(e accounting.TimelineEvent) bool { return e.Type == kind }) {
			t.Errorf("no event is %s", kind)
		}
	}
}

func TestPages_Headers(t *testing.T) {
	t.Parallel()
	// No page is kept in a cache, shown in a frame, loads anything foreign, or tells its address to other sites; errors, files and
	// ways to another page are no exception.
	for _, s := range []*site{newSite(t).fill().as(person.Grant{Role: person.Administrator}), newSite(t),
		newSite(t).as(person.Grant{Role: person.Viewer})} {
		for _, r := range s.routes {
			if strings.HasPrefix(r.pattern, root+"/static/") || r.pattern == root+"/sign-out" {
				continue
			}
			got, scripts := s.visit(r, ownPlatform), ""
			if len(got.elements("script")) > 0 {
				scripts = "script-src 'self'; connect-src 'self'; "
			}
			for header, want := range map[string]string{
				"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
				"X-Content-Type-Options":    "nosniff",
				"Strict-Transport-Security": "max-age=31536000", "Cross-Origin-Opener-Policy": "same-origin", "Vary": "Cookie",
				"X-Robots-Tag": "noindex, nofollow",
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; " + scripts + "form-action 'self'; base-uri 'none'; " +
					"frame-ancestors 'none'; img-src 'self' data:",
			} {
				if got.Header.Get(header) != want {
					t.Errorf("%s: %d: %s is %q", r, got.StatusCode, header, got.Header.Get(header))
				}
			}
		}
	}
	if got := newSiteAt(t, "http://localhost:8080").get(signInPath); got.Header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS without https")
	}
}

func TestPages_EscapeWhatWasEntered(t *testing.T) {
	t.Parallel()
	// Names, references and what a person searches for are text, whatever they contain.
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	s.platforms.all[0].Name = evil
	payment, c := &s.payments.all[0], &s.customers.all[0]
	payment.Reference, payment.PlatformCustomerID, payment.Description, payment.Payer["FULL_NAME"] = evil, evil, evil, evil
	s.accounting.timeline.Transaction = *payment
	c.PlatformCustomerID, c.FullName = evil, evil
	s.webhooks.all[0].Name, s.webhooks.all[0].Body = evil, []byte(`{"a":"`+`\"><img src=x>`+`"}`)
	s.people.everyone[0].Name, s.jobs.all[0].LastError = evil, evil
	in := s.people.sessions[s.secret]
	in.Person.Name = evil
	s.people.sessions[s.secret] = in
	for _, r := range s.routes {
		if r.pattern == setupPath || strings.HasPrefix(r.pattern, LinkPath) || r.pattern == signInPath || r.pattern == root+"/sign-out" {
			continue
		}
		got := s.visit(r, ownPlatform)
		foreign := slices.ContainsFunc(got.elements("img"), func(n *html.Node) bool {
			return !strings.HasPrefix(attribute(n, "src"), "data:image/png;base64,") // a document
		})
		if (len(got.foreignScripts()) > 0 || foreign) && !isFile(r) {
			t.Errorf("%s: %s", r, got.body)
		}
	}
	for _, path := range []string{base + "/search?q=", base + "/payments?reference=", base + "/payments?from=", base + "/customers?own=",
		base + "/entries?path=",
		signInPath + "?next=", base + "/trial-balance?month="} {
		if got := s.get(path + escapeQuery(evil)); len(got.foreignScripts())+len(got.elements("img")) > 0 {
			t.Errorf("%s: %s", path, got.body)
		}
	}
}

func TestPages_FailuresOfUseCases(t *testing.T) {
	t.Parallel()
	// A fault is explained with its status. Anything else is logged, without the address of the page, and shown as a page that
	// tells nothing of it.
	for err, want := range map[error]int{
		fault.New(fault.ServiceUnavailable, "The database is busy."): http.StatusServiceUnavailable,
		fault.New(fault.NotFound, "There is no such thing."):         http.StatusNotFound,
		http.ErrAbortHandler: http.StatusInternalServerError,
	} {
		s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
		s.calls.err = err
		for _, r := range s.routes {
			if anyone[r.String()] && r.pattern != signInPath || r.method == http.MethodGet &&
				slices.Contains([]string{setupPath, commandLinePath, signInPath}, r.pattern) {
				continue
			}
			s.log.Reset()
			got := s.visit(r, ownPlatform)
			if got.Header.Get("Content-Type") != "application/json" {
				s.checkStructure(r.String(), got)
			}
			isLogged := strings.Contains(s.log.String(), "a page of the console failed")
			if got.StatusCode != want || isLogged != (want == http.StatusInternalServerError) || strings.Contains(s.log.String(),
				ownPlatform.UUID().String()) {
				t.Errorf("%v: %s: %d, log %q", err, r, got.StatusCode, s.log)
			}
			if want == http.StatusInternalServerError && strings.Contains(got.body, err.Error()) {
				t.Errorf("%s: the page has the error: %s", r, got.body)
			}
		}
	}
}

func TestPages_IDsThatAreNone(t *testing.T) {
	t.Parallel()
	// What is no id, or nothing's, in an address is a page that does not exist, and an administrator is told no more of a platform.
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	for _, path := range []string{root + "/platforms/x", root + "/platforms/" + numbered(ident.Platform{}, 99).UUID().String()} {
		if got := s.get(path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	for _, kind := range []string{"/payments/", "/customers/", "/postings/", "/webhooks/"} {
		for _, id := range []string{"x", "Transaction:1", "..%2f..", "00000000-0000-0000-0000-000000000000", "0", strings.Repeat("9",
			5000)} {
			if got := s.get(base + kind + id); got.StatusCode != http.StatusNotFound {
				t.Errorf("GET %s%s: %d", kind, id, got.StatusCode)
			}
			if got := s.post(base+kind+id, nil); got.StatusCode != http.StatusNotFound && kind != "/postings/" {
				t.Errorf("POST %s%s: %d", kind, id, got.StatusCode)
			}
		}
	}
	if len(s.people.recorded) > 0 {
		t.Errorf("views of what does not exist are recorded: %q", s.people.recorded)
	}
	for _, query := range []string{"/webhooks?status=x", "/jobs?state=x"} {
		if got := s.get(base + query); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
}

func TestHome_CountsLastDay(t *testing.T) {
	t.Parallel()
	// The overview counts the payments of the last 24 hours by status, and leads to each. Where it has not counted to the end, it says
	// so.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	old := newPayment()
	old.CreatedAt = now.Add(-25 * time.Hour)
	s.payments.all = append(many(ports.MaxTotal+1), newIncoming(), old)
	got := s.get(base)
	for _, want := range []string{"<strong>10000+</strong> failed", "<strong>1</strong> completed", "<strong>0</strong> pending",
		base + "/payments?status=FAILED&amp;from=2026-03-13T09%3a30"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
}

func TestHome_SaysWhatWaits(t *testing.T) {
	t.Parallel()
	// The overview names webhooks that failed and jobs that stopped to those who may act on them, and "or more" where it has not counted to
	// the end. Where nothing waits, it says so. Only a sandbox says that no money moves.
	s := newSite(t).fill().as(person.Grant{Role: person.Operator})
	for i := range byte(25) {
		d := newDelivery()
		d.ID = numbered(d.ID, 100+i)
		s.webhooks.all = append(s.webhooks.all, d)
	}
	for _, want := range []string{"20 or more webhooks failed", "2 stopped jobs", "sandbox: no money moves"} {
		if got := s.get(base); !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if s.jobs.filter != (ports.JobFilter{Platform: ownPlatform, State: ports.JobDead, Limit: maxCounted + 1}) {
		t.Errorf("jobs %+v", s.jobs.filter)
	}
	viewer := newSite(t).as(person.Grant{Role: person.Viewer})
	viewer.platforms.all[0].Environment = platform.Production
	if got := viewer.get(base); !strings.Contains(got.body, "Nothing waits that you could decide.") ||
		strings.Contains(got.body, "sandbox") ||
		strings.Contains(got.body, "Jobs") || slices.Contains(viewer.calls.log, "jobs") {
		t.Errorf("nothing waits: %s", got.body)
	}
}

// isFile reports whether a route is a file and not a page.
func isFile(r route) bool {
	for _, end := range []string{".csv", ".json", ".pdf", ".txt", ".js", "/stream", "/ask", "/file", "/{document}"} {
		if strings.HasSuffix(r.pattern, end) {
			return true
		}
	}
	return r.method == http.MethodPost && strings.HasSuffix(r.pattern, "/statement")
}
