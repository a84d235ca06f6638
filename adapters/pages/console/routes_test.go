package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/pages/web"
	"causeway/core/person"
)

// needs are the rights that the pages of a platform need, by method and the rest of the path.
var needs = map[string]person.Right{
	"GET ": person.View, "GET /search": person.View, "GET /payments": person.View, "GET /payments.csv": person.View,
	"GET /payments/{transaction}": person.View, "POST /payments/{transaction}": person.ViewPersonalData,
	"GET /customers": person.View, "GET /customers/{customer}": person.View, "POST /customers/{customer}": person.ViewPersonalData,
	"GET /customers/{customer}/note": person.ViewPersonalData, "POST /customers/{customer}/note": person.ViewPersonalData,
	"GET /customers/{customer}/statement": person.ViewPersonalData, "POST /customers/{customer}/statement": person.ViewPersonalData,
	"GET /checkpoints": person.View, "GET /checkpoints/{size}": person.View, "GET /checkpoints/{size}/file.txt": person.View,
	"GET /trial-balance": person.View, "GET /entries": person.View, "GET /postings/{posting}": person.View,
	"GET /webhooks": person.View, "GET /webhooks/{webhook}": person.View, "POST /webhooks/{webhook}": person.ViewPersonalData,
	"GET /jobs": person.ViewConnections, "GET /state": person.ViewConnections,
	"GET /jobs/{job}/retry": person.Operate, "POST /jobs/{job}/retry": person.Operate,
	"GET /jobs/{job}/discard": person.Operate, "POST /jobs/{job}/discard": person.Operate,
	"GET /reviews": person.View, "GET /reviews/{verification}": person.View, "POST /reviews/{verification}": person.ViewPersonalData,
	"POST /reviews/{verification}/documents/{document}": person.ViewPersonalData,
	"GET /reviews/{verification}/accept":                person.Review, "POST /reviews/{verification}/accept": person.Review,
	"GET /reviews/{verification}/correct": person.Review, "POST /reviews/{verification}/correct": person.Review,
	"GET /reviews/{verification}/refuse": person.Review, "POST /reviews/{verification}/refuse": person.Review,
	"GET /reviews/{verification}/owners/{owner}/accept": person.Review, "POST /reviews/{verification}/owners/{owner}/accept": person.Review,
	"GET /reviews/{verification}/owners/{owner}/correct": person.Review, "POST /reviews/{verification}/owners/{owner}/correct": person.Review,
	"GET /reviews/{verification}/owners/{owner}/refuse": person.Review, "POST /reviews/{verification}/owners/{owner}/refuse": person.Review,
	"GET /hits/{hit}/clear": person.Review, "POST /hits/{hit}/clear": person.Review,
	"GET /hits/{hit}/confirm": person.Review, "POST /hits/{hit}/confirm": person.Review,
	"GET /customers/{customer}/hold": person.Review, "POST /customers/{customer}/hold": person.Review,
	"GET /customers/{customer}/release": person.Review, "POST /customers/{customer}/release": person.Review,
	"GET /agent-approvals": person.View, "GET /agent-approvals/{action}": person.View,
	"POST /agent-approvals/{action}":        person.ViewPersonalData,
	"GET /agent-approvals/{action}/approve": person.Review, "POST /agent-approvals/{action}/approve": person.Review,
	"GET /agent-approvals/{action}/reject": person.Review, "POST /agent-approvals/{action}/reject": person.Review,
	"GET /events": person.View, "GET /events/stream": person.View, "GET /test-values": person.View,
	"GET /tokens": person.View, "GET /requests": person.View, "GET /requests/{request}": person.View,
	"GET /webhook-endpoint": person.ManageService, "POST /webhook-endpoint": person.ManageService,
	"GET /chart-of-accounts": person.View, "GET /add-account": person.KeepBooks, "POST /add-account": person.KeepBooks,
	"GET /chart-of-accounts/{class}/{account}/change": person.KeepBooks, "POST /chart-of-accounts/{class}/{account}/change": person.KeepBooks,
	"GET /books-settings": person.View, "GET /change-books-settings": person.KeepBooks, "POST /change-books-settings": person.KeepBooks,
	"GET /create-token": person.ManageTokens, "POST /create-token": person.ManageTokens,
	"GET /tokens/{token}/revoke": person.ManageTokens, "POST /tokens/{token}/revoke": person.ManageTokens,
	"GET /webhooks/{webhook}/redeliver": person.Assist, "POST /webhooks/{webhook}/redeliver": person.Assist,
	"GET /redeliver-failed": person.Assist, "POST /redeliver-failed": person.Assist,
	"GET /test-webhook": person.Assist, "POST /test-webhook": person.Assist,
	"GET /payments/{transaction}/approve": person.Review, "POST /payments/{transaction}/approve": person.Review,
	"GET /payments/{transaction}/reject": person.Review, "POST /payments/{transaction}/reject": person.Review,
	"GET /payments/{transaction}/cancel": person.DecidePayments, "POST /payments/{transaction}/cancel": person.DecidePayments,
	"GET /payments/{transaction}/pay-in": person.Assist, "POST /payments/{transaction}/pay-in": person.Assist,
	"GET /payments/{transaction}/expire": person.Assist, "POST /payments/{transaction}/expire": person.Assist,
	"GET /payments/{transaction}/redeliver": person.Assist, "POST /payments/{transaction}/redeliver": person.Assist,
	"GET /payments/{transaction}/settle": person.Assist, "POST /payments/{transaction}/settle": person.Assist,
	"GET /payments/{transaction}/return": person.Assist, "POST /payments/{transaction}/return": person.Assist,
	"GET /payments/{transaction}/take-back": person.Assist, "POST /payments/{transaction}/take-back": person.Assist,
	"GET /audit": person.ViewAudit, "GET /audit.csv": person.ViewAudit, "GET /audit.json": person.ViewAudit,
	"GET /audit/{entry}":        person.ViewAudit,
	"POST /filters":             person.View,
	"GET /financial-statements": person.View, "GET /financial-statements/lines/{statement}/{line}": person.View,
	"GET /financial-statements/file.csv": person.View, "GET /financial-statements/file.pdf": person.View,
	"GET /months": person.View, "GET /months/{month}": person.View,
	"GET /months/{month}/soft-close": person.KeepBooks, "POST /months/{month}/soft-close": person.KeepBooks,
	"GET /months/{month}/revalue": person.KeepBooks, "POST /months/{month}/revalue": person.KeepBooks,
	"GET /months/{month}/defer-fees": person.KeepBooks, "POST /months/{month}/defer-fees": person.KeepBooks,
	"GET /months/{month}/post-allowance": person.KeepBooks, "POST /months/{month}/post-allowance": person.KeepBooks,
	"GET /months/{month}/close-year": person.KeepBooks, "POST /months/{month}/close-year": person.KeepBooks,
	"GET /months/{month}/close": person.KeepBooks, "POST /months/{month}/close": person.KeepBooks,
	"GET /months/{month}/reopen": person.KeepBooks, "POST /months/{month}/reopen": person.KeepBooks,
	"GET /import-statement": person.KeepBooks, "POST /import-statement": person.KeepBooks,
	"GET /reconciliations": person.View, "GET /reconciliations/{reconciliation}": person.View,
	"GET /reconciliations/{reconciliation}/lines": person.View, "GET /breaks": person.View,
	"GET /breaks/{break}": person.View, "POST /breaks/{break}": person.ViewPersonalData,
	"GET /breaks/{break}/resolve": person.KeepBooks, "POST /breaks/{break}/resolve": person.KeepBooks,
	"GET /journals": person.View, "GET /journals/{journal}": person.View, "GET /journals/{journal}/file.csv": person.View,
	"GET /make-journals": person.KeepBooks, "POST /make-journals": person.KeepBooks,
	"GET /make-adjustment": person.KeepBooks, "POST /make-adjustment": person.KeepBooks,
	"GET /recurring/{name}": person.View,
	"GET /set-recurring":    person.KeepBooks, "POST /set-recurring": person.KeepBooks,
	"GET /recurring/{name}/end": person.KeepBooks, "POST /recurring/{name}/end": person.KeepBooks,
	"GET /receivables": person.View, "GET /receivables/{receivable}": person.View,
	"POST /receivables/{receivable}":          person.ViewPersonalData,
	"GET /receivables/{receivable}/write-off": person.KeepBooks, "POST /receivables/{receivable}/write-off": person.KeepBooks,
	"GET /unmatched": person.View, "GET /unmatched/{receipt}": person.View, "POST /unmatched/{receipt}": person.ViewPersonalData,
	"GET /unmatched/{receipt}/assign": person.KeepBooks, "POST /unmatched/{receipt}/assign": person.KeepBooks,
	"GET /safeguarding": person.View, "GET /safeguarding/{day}": person.View,
	"GET /safeguarding/{day}/acknowledge": person.KeepBooks, "POST /safeguarding/{day}/acknowledge": person.KeepBooks,
	"GET /fx-position": person.View, "GET /exports": person.View, "GET /exports/{export}/file": person.View,
	"GET /make-audit-pack": person.ViewAudit, "POST /make-audit-pack": person.ViewAudit,
	"GET /make-export": person.View, "POST /make-export": person.View,
	"GET /exports/{export}/cancel": person.View, "POST /exports/{export}/cancel": person.View,
	"GET /proposals": person.View, "GET /proposals/{proposal}": person.View, "POST /proposals/{proposal}": person.ApproveBooks,
}

// needsEverywhere are the rights on all platforms that the other pages need.
var needsEverywhere = map[string]person.Right{
	"GET /audit": person.ViewAudit, "GET /audit.csv": person.ViewAudit, "GET /audit.json": person.ViewAudit,
	"GET /audit/{entry}": person.ViewAudit,
	"GET /processes":     person.ViewConnections,
	"GET /changes":       person.View, "GET /changes/prices/{proposal}": person.View, "GET /changes/connections/{proposal}": person.View,
	"GET /changes/prices/{proposal}/approve": person.ApproveBooks, "POST /changes/prices/{proposal}/approve": person.ApproveBooks,
	"GET /changes/prices/{proposal}/reject": person.ApproveBooks, "POST /changes/prices/{proposal}/reject": person.ApproveBooks,
	"GET /changes/connections/{proposal}/approve": person.ApproveBooks, "POST /changes/connections/{proposal}/approve": person.ApproveBooks,
	"GET /changes/connections/{proposal}/reject": person.ApproveBooks, "POST /changes/connections/{proposal}/reject": person.ApproveBooks,
	"GET /people": person.ManagePeople, "GET /connections": person.ViewConnections, "GET /connections/{connection}": person.ViewConnections,
	"GET /connections/{connection}/pause": person.Operate, "POST /connections/{connection}/pause": person.Operate,
	"GET /connections/{connection}/resume": person.Operate, "POST /connections/{connection}/resume": person.Operate,
	"GET /rail-payments": person.ViewConnections, "GET /rail-payments/{payment}": person.ViewConnections,
	"GET /rail-payments/{payment}/release": person.DecidePayments, "POST /rail-payments/{payment}/release": person.DecidePayments,
	"GET /rail-payments/{payment}/cancel": person.DecidePayments, "POST /rail-payments/{payment}/cancel": person.DecidePayments,
	"GET /rail-payments/{payment}/withdraw": person.DecidePayments, "POST /rail-payments/{payment}/withdraw": person.DecidePayments,
	"GET /rail-payments/{payment}/move": person.DecidePayments, "POST /rail-payments/{payment}/move": person.DecidePayments,
	"GET /rail-payments/{payment}/not-sent": person.DecidePayments, "POST /rail-payments/{payment}/not-sent": person.DecidePayments,
}

// anyone are the pages without a session.
var anyone = map[string]bool{"GET /console/sign-in": true, "POST /console/sign-in": true, "GET /console/link/{token}": true,
	"POST /console/link/{token}": true, "GET /console/static/style.css": true, "GET /console/static/passkeys.js": true,
	"GET /console/static/proof.js": true, "GET /console/static/htmx.min.js": true, "GET /console/static/live.js": true,
	"GET /console/static/refresh.js": true,
	"GET /console/":                  true, "POST /console/sign-in/passkey": true, "POST /console/sign-in/passkey/ask": true,
	"GET /console/sign-in/provider": true, "GET /console/sign-in/return": true}

// inAnySession are the pages that a person needs no right for.
var inAnySession = map[string]bool{"GET /console": true, "GET /console/setup": true, "POST /console/setup": true,
	"POST /console/sign-out": true, "GET /console/command-line": true, "POST /console/command-line": true,
	"GET /console/account": true, "POST /console/account/passkeys": true, "POST /console/account/passkeys/ask": true,
	"POST /console/account/time-zone":                true,
	"GET /console/account/passkeys/{passkey}/remove": true, "POST /console/account/passkeys/{passkey}/remove": true,
	"GET /console/account/password": true, "POST /console/account/password": true,
	"GET /console/account/authenticator": true, "POST /console/account/authenticator": true,
	"GET /console/account/recovery-codes": true, "POST /console/account/recovery-codes": true,
	"GET /console/account/sessions/others/end": true, "POST /console/account/sessions/others/end": true,
	"GET /console/account/sessions/{session}/end": true, "POST /console/account/sessions/{session}/end": true,
	"POST /console/confirm/ask": true, "GET /console/confirm/provider": true}

func (r route) String() string { return r.method + " " + r.pattern }

// rightOf returns the right that a route needs, and whether it is one on a platform.
func (s *site) rightOf(r route) (right person.Right, onPlatform bool) {
	s.t.Helper()
	rest, onPlatform := strings.CutPrefix(r.pattern, platformPath+"{platform}")
	known := false
	if !onPlatform {
		right, known = needsEverywhere[r.method+" "+strings.TrimPrefix(r.pattern, root)]
	} else {
		right, known = needs[r.method+" "+rest]
	}
	if !known {
		s.t.Fatalf("say which right %s needs", r)
	}
	return right, onPlatform
}

func isShown(r response) bool {
	return r.StatusCode == http.StatusOK || r.StatusCode == http.StatusNoContent || r.StatusCode == http.StatusSeeOther
}

func TestRoutes_EveryRole(t *testing.T) {
	t.Parallel()
	// A page is shown to a role that has its right, on all platforms or on its own. Others are told that they may not, also
	// with a form that they made by hand; of a platform that is not theirs they are not told that it exists. Nothing is read
	// or recorded for them.
	for _, role := range person.Roles {
		// They refuse everything, so that one of each is enough.
		foreign := newSite(t).fill().as(person.Grant{Role: role, Platform: foreignPlatform})
		unknown := newSite(t).fill().as(person.Grant{Role: role, Platform: foreignPlatform})
		for _, r := range foreign.routes {
			if anyone[r.String()] || inAnySession[r.String()] {
				continue
			}
			right, onPlatform := foreign.rightOf(r)
			refuse := func(what string, s *site, got response, status int) {
				t.Helper()
				if got.StatusCode != status || len(s.calls.log)+len(s.people.recorded) > 0 {
					t.Errorf("%s %s: %s: %d, want %d; calls %q", role, what, r, got.StatusCode, status, s.calls.log)
				}
			}
			all := newSite(t).fill().as(person.Grant{Role: role})
			if got := all.visit(r, ownPlatform); !role.Has(right) {
				refuse("on all platforms", all, got, http.StatusForbidden)
			} else if !isShown(got) {
				t.Errorf("%s: %s: %d\n%s", role, r, got.StatusCode, got.body)
			}
			own := newSite(t).fill().as(person.Grant{Role: role, Platform: ownPlatform})
			if got := own.visit(r, ownPlatform); !onPlatform || !role.Has(right) {
				refuse("on one platform", own, got, http.StatusForbidden)
			} else if !isShown(got) {
				t.Errorf("%s on its platform: %s: %d\n%s", role, r, got.StatusCode, got.body)
			}
			if !onPlatform {
				continue
			}
			got, other := foreign.visit(r, ownPlatform), unknown.visit(r, numbered(ownPlatform, 99))
			refuse("of another platform", foreign, got, http.StatusNotFound)
			if got.body != other.body {
				t.Errorf("%s: %s: a platform that exists is told from one that does not:\n%s\n%s", role, r, got.body, other.body)
			}
		}
	}
}

func TestRoutes_EachActIsThatOfThePerson(t *testing.T) {
	t.Parallel()
	// Whatever a form does, or shows of personal data, is stored with the person who has signed in, by its id and not by its name alone. A
	// filter is the person's own, and a test webhook changes nothing.
	for _, r := range newSite(t).routes {
		if r.method != http.MethodPost || anyone[r.String()] || inAnySession[r.String()] ||
			strings.HasSuffix(r.pattern, "/filters") || strings.HasSuffix(r.pattern, "/test-webhook") {
			continue
		}
		s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
		got, who := s.visit(r, ownPlatform), newPerson().ID.UUID()
		if len(s.calls.actors) == 0 || slices.ContainsFunc(s.calls.actors, func(by uuid.UUID) bool { return by != who }) {
			t.Errorf("%s: %d, acted: %s, calls %q", r, got.StatusCode, s.calls.actors, s.calls.log)
		}
	}
}

func TestRoutes_RolesOfSeveralPlatformsStayApart(t *testing.T) {
	t.Parallel()
	// A right on one platform is none on another, of which the person may see less.
	for _, r := range newSite(t).routes {
		if !strings.HasPrefix(r.pattern, platformPath) {
			continue
		}
		s := newSite(t).fill().as(person.Grant{Role: person.Viewer, Platform: ownPlatform},
			person.Grant{Role: person.Administrator, Platform: foreignPlatform})
		right, _ := s.rightOf(r)
		want := http.StatusForbidden
		if right == person.View {
			want = http.StatusOK
		}
		if got := s.visit(r, ownPlatform); got.StatusCode != want && !(want == http.StatusOK && isShown(got)) {
			t.Errorf("%s: %d, want %d", r, got.StatusCode, want)
		}
	}
}

func TestRoutes_PagesOfNoPlatformListOwnOnly(t *testing.T) {
	t.Parallel()
	// The list of platforms has those that a person may see; a person who sees only one is led to it.
	s := newSite(t).as(person.Grant{Role: person.Viewer, Platform: foreignPlatform})
	if got := s.get(root); got.Header.Get("Location") != basePath(foreignPlatform) {
		t.Errorf("one platform: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	if got := s.get(root + "?all"); !strings.Contains(got.body, "Other Bank") || strings.Contains(got.body, "Acme") {
		t.Errorf("one platform, as a list: %s", got.body)
	}
	if got := newSite(t).as(person.Grant{Role: person.Viewer}).get(root); !strings.Contains(got.body, "Other Bank") ||
		!strings.Contains(got.body, "Acme") {
		t.Errorf("all platforms: %s", got.body)
	}
	if got := newSite(t).as(person.Grant{Role: person.Viewer, Platform: numbered(ownPlatform, 99)}).get(root); !strings.Contains(got.body,
		"no platform that your roles let you see") {
		t.Errorf("no platform: %s", got.body)
	}
}

func TestRoutes_SetupReachesNothingElse(t *testing.T) {
	t.Parallel()
	// Who has only opened a link can choose a password or sign out. Every other page leads to the choice, and reads nothing.
	for _, r := range newSite(t).routes {
		s := newSite(t).fill().as(person.Grant{Role: person.Administrator}).inSetup()
		got := s.visit(r, ownPlatform)
		switch {
		case anyone[r.String()]:
		case r.pattern == setupPath && got.StatusCode == http.StatusOK, r.pattern == root+"/sign-out" &&
			got.StatusCode == http.StatusSeeOther:
		case got.Header.Get("Location") != setupPath || len(s.calls.log) > 0:
			t.Errorf("%s: %d to %s, calls %q", r, got.StatusCode, got.Header.Get("Location"), s.calls.log)
		}
	}
}

func TestRoutes_WithoutSession(t *testing.T) {
	t.Parallel()
	// Without a session, or with one that has ended, every page leads to signing in and then back to it. A form does nothing.
	for _, r := range newSite(t).routes {
		if anyone[r.String()] {
			continue
		}
		for _, cookie := range []string{"", "ended"} {
			s := newSite(t).fill()
			s.cookies["__Host-console"] = &http.Cookie{Name: "__Host-console", Value: cookie}
			want := signInPath
			if r.method == http.MethodGet && r.pattern != root {
				want += "?next=" + url.QueryEscape(pathOf(r.pattern, ownPlatform))
			}
			if got := s.visit(r, ownPlatform); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != want ||
				len(s.calls.log) > 0 {
				t.Errorf("%s with the session %q: %d to %s, want %s; calls %q", r, cookie, got.StatusCode, got.Header.Get("Location"),
					want, s.calls.log)
			}
		}
	}
}

func TestForms_OnlyFromThePagesThemselves(t *testing.T) {
	t.Parallel()
	// A form of another site, or without the token of the session, does nothing.
	origins := map[string]func(*http.Request){
		"another site": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Origin", "https://evil.test")
		},
		"an origin of the same site": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "same-site")
			r.Header.Set("Origin", "https://other.example.com")
		},
		"an old browser at another origin": func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "https://other.example.com")
		},
		"a page without an origin": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") },
	}
	for _, r := range newSite(t).routes {
		if r.method != http.MethodPost {
			continue
		}
		refuse := func(what string, s *site, got response) {
			t.Helper()
			if got.StatusCode != http.StatusForbidden || len(s.calls.log)+len(got.Cookies()) > 0 || s.people.links["token"].Email == "" {
				t.Errorf("%s: %s: %d, calls %q", what, r, got.StatusCode, s.calls.log)
			}
		}
		for name, edit := range origins {
			s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
			refuse(name, s, s.visit(r, ownPlatform, edit))
		}
		if anyone[r.String()] {
			continue
		}
		for _, token := range []string{"", "x", web.FormToken("another-session"), "secret-of-the-session"} {
			s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
			refuse("token "+token, s, s.post(pathOf(r.pattern, ownPlatform), url.Values{"csrf": {token}}))
			refuse("token in the URL", s, s.post(pathOf(r.pattern, ownPlatform)+"?csrf="+web.FormToken(s.secret), url.Values{"csrf": nil}))
		}
	}
}

func TestForms_UnreadableOnes(t *testing.T) {
	t.Parallel()
	// A form that is too long, is no form, or has what no database can store, is refused before anything is done with it.
	for _, path := range []string{signInPath, setupPath, base + "/payments/" + paymentID.UUID().String()} {
		for name, edit := range map[string]func(*http.Request){
			"no form": func(r *http.Request) { r.Header.Set("Content-Type", "x/y;;") },
			"bad escape": func(r *http.Request) {
				body := "csrf=" + web.FormToken("secret-of-the-session") + "&password=%zz"
				*r = *withBody(r, body)
			},
			"NUL": func(r *http.Request) {
				*r = *withBody(r, "csrf="+web.FormToken("secret-of-the-session")+"&email=a%00b&password=right&code=123456")
			},
			"no UTF-8": func(r *http.Request) {
				*r = *withBody(r, "csrf="+web.FormToken("secret-of-the-session")+"&email=a%ffb&password=right&code=123456")
			},
			"too long": func(r *http.Request) {
				*r = *withBody(r, "csrf="+web.FormToken("secret-of-the-session")+"&password="+strings.Repeat("x", maxForm))
			},
		} {
			s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
			got := s.post(path, nil, edit)
			if got.StatusCode != http.StatusBadRequest && !(name == "no form" && got.StatusCode == http.StatusForbidden) ||
				len(s.calls.log) > 0 {
				t.Errorf("%s: %s: %d, calls %q", path, name, got.StatusCode, s.calls.log)
			}
		}
	}
}

func withBody(r *http.Request, body string) *http.Request {
	with := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(body))
	with.Header = r.Header
	return with
}

func TestRoutes_SigningInIsLimited(t *testing.T) {
	t.Parallel()
	// The pages on which a secret could be guessed, a password or the token of a link, have the rate limit of an address, and its
	// refusal is a page.
	for _, r := range newSite(t).routes {
		isSecret := r.pattern == signInPath || r.pattern == setupPath || strings.HasPrefix(r.pattern, LinkPath)
		if isSecret && !r.limited {
			t.Errorf("%s has no limit", r)
		}
	}
	s := newSite(t)
	pages, err := New(Config{Log: nil, PublicURL: public})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = http.NewServeMux()
	s.handler.(*http.ServeMux).Handle("/", pages.TooManyRequests())
	if got := s.get(signInPath); got.StatusCode != http.StatusTooManyRequests || !strings.Contains(got.body, "Wait a minute") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
