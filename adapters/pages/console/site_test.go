package console

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	"golang.org/x/net/html"

	"causeway/adapters/pages/web"
	"causeway/adapters/pages/web/webtest"
	"causeway/app/people"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

const public = "https://pay.example.com"

var now = time.Date(2026, 3, 14, 9, 30, 15, 0, time.UTC)

type fixedClock struct{}

func (fixedClock) Now() time.Time { return now }

// numbered returns an id of the same type with a number.
func numbered[K ident.Kind](id ident.ID[K], n byte) ident.ID[K] {
	id.SetUUID(uuid.UUID{0: 1, 15: n})
	return id
}

var (
	ownPlatform     = numbered(ident.Platform{}, 1)
	foreignPlatform = numbered(ident.Platform{}, 2)
	base            = basePath(ownPlatform)
)

func newPerson(grants ...person.Grant) person.Person {
	return person.Person{ID: numbered(ident.Person{}, 9), Email: "ada@acme.example", Name: "Ada Lovelace", Grants: grants,
		Status: person.Active}
}

// site is a browser without script at the pages.
type site struct {
	t          *testing.T
	calls      *calls
	people     *fakePeople
	platforms  *fakePlatforms
	payments   *fakePayments
	customers  *fakeCustomers
	accounting *fakeAccounting
	proposals  *fakeProposals
	webhooks   *fakeWebhooks
	jobs       *fakeJobs
	books      *fakeBooks
	statements *fakeReconciliation
	finance    *fakeFinance
	rails      *fakeRails
	reviews    *fakeReviews
	approvals  *fakeApprovals
	developers *fakeDevelopers
	changes    *fakeChanges
	activity   *fakeActivity
	filters    *fakeFilters
	search     *fakeSearch
	handler    http.Handler
	console    *Console
	cookies    map[string]*http.Cookie
	log        *bytes.Buffer
	origin     string // in the address bar
	secret     string // of the session
	routes     []route
}

// route is a registered page. Limited: it goes through the rate limit of signing in.
type route struct {
	method, pattern string
	limited         bool
}

// newSite returns a browser at a service with two platforms, on which nothing has happened.
func newSite(t *testing.T) *site { return newSiteAt(t, public) }

func newSiteAt(t *testing.T, origin string) *site {
	t.Helper()
	c := &calls{t: t}
	s := &site{t: t, calls: c, cookies: map[string]*http.Cookie{}, log: new(bytes.Buffer), origin: origin, people: &fakePeople{calls: c,
		sessions: map[string]people.SignedIn{}, links: map[string]person.Person{"token": newPerson(person.Grant{Role: person.Viewer})}},
		platforms: &fakePlatforms{calls: c, all: []platform.Platform{
			{ID: ownPlatform, Name: "Acme Pay", Environment: platform.Sandbox, CreatedAt: now},
			{ID: foreignPlatform, Name: "Other Bank", Environment: platform.Production, CreatedAt: now}}},
		payments: &fakePayments{calls: c}, customers: &fakeCustomers{calls: c}, accounting: &fakeAccounting{calls: c},
		proposals: &fakeProposals{calls: c}, webhooks: &fakeWebhooks{calls: c}, jobs: &fakeJobs{calls: c},
		books: &fakeBooks{calls: c}, statements: &fakeReconciliation{calls: c}, finance: &fakeFinance{calls: c},
		rails: &fakeRails{calls: c}, reviews: &fakeReviews{calls: c}, approvals: &fakeApprovals{calls: c},
		changes: &fakeChanges{calls: c}, developers: &fakeDevelopers{calls: c}, activity: &fakeActivity{calls: c},
		filters: &fakeFilters{calls: c}, search: &fakeSearch{calls: c}}
	log := logrus.New()
	log.SetOutput(s.log)
	log.SetLevel(logrus.DebugLevel)
	pages, err := New(Config{People: s.people, Platforms: s.platforms, Payments: s.payments, Customers: s.customers,
		Accounting: s.accounting,
		Proposals:  s.proposals, Webhooks: s.webhooks, Jobs: s.jobs, Periods: s.books, MonthEnd: s.books,
		Years: fakeYears{s.books}, Reconciliation: s.statements, Books: s.finance, Journals: s.finance,
		Receivables: s.finance, Treasury: s.finance, Financials: fakeFinancials{s.finance}, LedgerLog: fakeLedgerLog{s.accounting},
		Prices: fakePrices{s.changes}, Connections: fakeConnections{s.changes},
		Exports: s.finance, ExportFiles: fakeFiles{s.finance}, Rails: s.rails, Verifications: s.reviews, Screening: s.reviews,
		Documents: s.reviews, PaymentActions: s.developers, Tokens: s.developers, RequestLog: s.developers, Activity: s.activity,
		Filters: s.filters, Search: s.search, Accounts: fakeAccounts{s.customers}, Operations: s.jobs,
		Agents: fakeAgents{c}, AgentApprovals: s.approvals, Limits: fakeLimits{c},
		Notes:      s.customers,
		APIPath:    "/v",
		TestValues: []ports.TestValue{{Where: "the account", Value: "002", Then: "it fails"}},
		Clock:      fixedClock{}, Log: log,
		PublicURL: origin,
		Version:   "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	handlers := map[string]http.Handler{}
	pages.Register(func(method, pattern string, h http.Handler) {
		exact := pattern
		if strings.HasSuffix(exact, "/") { // which would match all paths below it
			exact += "{$}"
		}
		handlers[method+" "+exact] = h
		_, isLimited := h.(limitedPage)
		s.routes = append(s.routes, route{method, pattern, isLimited})
	}, func(h http.Handler) http.Handler { return limitedPage{h} })
	s.handler, s.console = serve(handlers), pages
	return s
}

// paths find the pattern of a request. To make them takes longer than all else of a site, so that all sites, which have the same
// patterns, share them.
var paths struct {
	sync.Once
	http.ServeMux
}

// serve returns the handler of a site with a handler for each pattern.
func serve(handlers map[string]http.Handler) http.Handler {
	type key struct{}
	paths.Do(func() {
		for pattern := range handlers {
			paths.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
				r.Context().Value(key{}).(map[string]http.Handler)[pattern].ServeHTTP(w, r)
			})
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, handlers)))
	})
}

// limitedPage is a page behind the rate limit of signing in.
type limitedPage struct{ http.Handler }

// as returns the site in a session of a person with roles.
func (s *site) as(grants ...person.Grant) *site {
	s.secret = "secret-of-the-session"
	in := s.people.begin(newPerson(grants...), s.secret)
	name := "console"
	if strings.HasPrefix(s.origin, "https") {
		name = "__Host-console"
	}
	s.cookies[name] = &http.Cookie{Name: name, Value: in.Secret}
	return s
}

// inSetup makes the session one in which a person may only choose its password.
func (s *site) inSetup() *site {
	in := s.people.sessions[s.secret]
	in.Setup = true
	s.people.sessions[s.secret] = in
	return s
}

// response is a page as the browser has it.
type response struct {
	*http.Response
	body string
	root *html.Node
}

func (s *site) send(r *http.Request) response {
	s.t.Helper()
	got, body, root := webtest.Send(s.t, s.handler, s.cookies, r)
	return response{got, body, root}
}

func (s *site) get(path string) response {
	s.t.Helper()
	return s.send(httptest.NewRequest(http.MethodGet, s.origin+path, nil))
}

// post sends a form as a browser does, with the token of the session.
func (s *site) post(path string, values url.Values, edits ...func(*http.Request)) response {
	s.t.Helper()
	return s.send(webtest.Form(s.origin, path, s.secret, values, edits...))
}

// visit sends a request for a route on a platform, as a browser of its pages would.
func (s *site) visit(r route, p ident.Platform, edits ...func(*http.Request)) response {
	s.t.Helper()
	path := pathOf(r.pattern, p)
	if r.method == http.MethodPost && strings.HasSuffix(path, "/"+importPath) {
		return s.upload(path, web.FormToken(s.secret), nil, strings.NewReader("1"), edits...)
	}
	if r.method == http.MethodPost {
		return s.post(path, url.Values{"email": {"ada@acme.example"}, "password": {"right"}, "code": {"123456"},
			"decision": {"approve"}, "name": {"laptop"}, "passkey": {""}, "answer": {"right"},
			"content": {"Called"}, "target": {"PAYER"}, "account": {numbered(ident.InternalAccount{}, 16).String()},
			"unrealisedResult": {"KEEP"}, "feeRecognition": {"DELIVERY"}, "yearEndMonth": {"6"}, "version": {"0"},
			"webhookEndpoint": {"https://example.com/webhooks"},
			"span":            {"2026-02"}, "year": {"2025"}, "first": {"2026-03"}, "last": {"2026-03"}, "amount": {"1"},
			"from": {"2026-03-13T10:00"}, "to": {"2026-03-14T10:00"}, "application": {applicationID.String()}}, edits...)
	}
	return s.get(path)
}

// pathOf returns the path of a route for what fill has made.
func pathOf(pattern string, p ident.Platform) string {
	if strings.HasPrefix(pattern, platformPath) {
		pattern = strings.ReplaceAll(pattern, "{token}", tokenID.UUID().String())
	}
	return strings.NewReplacer("{token}", "token", "{platform}", p.UUID().String(), "{transaction}", paymentID.UUID().String(),
		"{customer}", customerID.UUID().String(), "{posting}", postingID.String(), "{webhook}", webhookID.UUID().String(),
		"{proposal}", proposalID.UUID().String(), "{month}", testMonth.String(), "{reconciliation}", runID.UUID().String(),
		"{break}", breakID.UUID().String(), "{journal}", journalNumber, "{name}", recurringName, "{export}", exportID.String(),
		"{entry}", entryID.String(), "{size}", "43",
		"{receivable}", receivableID.UUID().String(), "{receipt}", receiptID.UUID().String(),
		"{statement}", "INCOME_STATEMENT", "{line}", "fees", "{day}", string(reportDay),
		"{action}", agentActionID.UUID().String(), "{job}", deadJobID.String(), "{connection}",
		"bank-eur", "{payment}",
		paymentID.UUID().String(), "{verification}", verificationID.UUID().String(), "{owner}", ownerID.UUID().String(),
		"{session}", hex.EncodeToString(otherSession[:]), "{passkey}", base64.RawURLEncoding.EncodeToString(passkeyID),
		"{document}", documentID.UUID().String(), "{hit}", hitID.String(), "{class}/{account}", rentPath,
		"{request}", requestID.UUID().String()).Replace(pattern)
}

// elements returns all elements with a name.
func (r response) elements(name string) []*html.Node { return webtest.Elements(r.root, name) }

func attribute(n *html.Node, name string) string { return webtest.Attribute(n, name) }

// isOwnScript reports whether an element is the script of a page that needs one.
func isOwnScript(n *html.Node) bool {
	return n.Data == "script" && n.FirstChild == nil &&
		slices.Contains([]string{root + "/static/passkeys.js", root + "/static/proof.js", root + "/static/live.js",
			root + "/static/htmx.min.js", root + "/static/refresh.js"}, attribute(n, "src"))
}

// foreignScripts returns the scripts of a page that are not its own.
func (r response) foreignScripts() []*html.Node {
	return slices.DeleteFunc(r.elements("script"), isOwnScript)
}

// checkStructure checks what every page must have: its links and forms lead to pages that exist, and its forms have the token.
func (s *site) checkStructure(name string, r response) {
	s.t.Helper()
	bad := func(format string, args ...any) {
		s.t.Helper()
		s.t.Errorf("%s: %s\n%s", name, fmt.Sprintf(format, args...), r.body)
	}
	ids := webtest.CheckStructure(r.root, bad)
	for n := range r.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		isAllowed := isOwnScript(n) && strings.Contains(r.Header.Get("Content-Security-Policy"), "script-src 'self';")
		if n.Data == "script" && !isAllowed || n.Data == "style" {
			bad("a %s", n.Data)
		}
	}
	for _, n := range r.elements("a") {
		if to := attribute(n, "href"); strings.HasPrefix(to, "#") && ids[to[1:]] {
			continue
		} else if !s.exists(http.MethodGet, to) {
			bad("a link leads to %s", to)
		}
	}
	for _, n := range r.elements("form") {
		method, to := strings.ToUpper(attribute(n, "method")), attribute(n, "action")
		if method == "" {
			method = http.MethodGet
		}
		if to != "" && !s.exists(method, to) {
			bad("a form is sent to %s %s", method, to)
		}
		isInSession := strings.Contains(r.body, "Sign out")
		if method == http.MethodPost && isInSession && !slices.ContainsFunc(slices.Collect(n.Descendants()), func(n *html.Node) bool {
			return attribute(n, "name") == "csrf" && slices.ContainsFunc(slices.Collect(maps.Keys(s.people.sessions)),
				func(secret string) bool {
					return attribute(n, "value") == web.FormToken(secret)
				})
		}) {
			bad("a form has no token")
		}
	}
}

// exists reports whether a page is served at a path of the console.
func (s *site) exists(method, path string) bool {
	if !strings.HasPrefix(path, "/console") {
		return false
	}
	_, pattern := paths.Handler(httptest.NewRequest(method, path, nil))
	return pattern != ""
}
