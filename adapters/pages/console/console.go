// Package console serves the pages on which the people who work with the service look at payments, the ledger and webhooks.
// They work without script, but for a list of events that grows by itself; htmx makes lists quicker.
//
// It decides nothing: who may see what comes from core/person, and what is shown from the use cases that the API calls too.
package console

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sirupsen/logrus"

	"causeway/adapters/pages/web"
	"causeway/app/people"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Config holds what the pages need. All fields are required.
type Config struct {
	People     People
	Platforms  Platforms
	Payments   Payments
	Customers  Customers
	Accounting Accounting
	Proposals  Proposals
	Webhooks   Webhooks
	Jobs       Jobs

	Periods        Periods
	MonthEnd       MonthEnd
	Years          Years
	Reconciliation Reconciliation
	Books          Books
	Journals       Journals
	Receivables    Receivables
	Treasury       Treasury
	Financials     Financials
	LedgerLog      LedgerLog
	Exports        Exports
	ExportFiles    ExportFiles
	Rails          Rails
	Prices         Prices
	Connections    Connections
	Verifications  Verifications
	Screening      Screening
	Documents      Documents
	PaymentActions PaymentActions
	Tokens         Tokens
	RequestLog     RequestLog
	Activity       Activity
	Filters        Filters
	Search         Search
	Accounts       Accounts
	Operations     Operations
	Agents         Agents
	AgentApprovals AgentApprovals
	Limits         Limits
	Notes          Notes

	// APIPath begins the paths of the API.
	APIPath string
	// TestValues are those of sandbox platforms.
	TestValues []ports.TestValue
	// Stopping is closed when the service begins to stop; nil never is.
	Stopping <-chan struct{}

	Clock ports.Clock
	Log   *logrus.Logger
	// PublicURL is where the pages are, such as https://pay.example.com.
	PublicURL string
	// Version is that of the service.
	Version string
}

// Console is the pages. Create it with New.
type Console struct {
	Config
	site *web.Site
	// provider keeps the secret by which a browser is known that comes back from single sign-on.
	provider *web.Site
	streams  chan struct{} // one for each stream of events that is open
}

// The paths of the pages.
const (
	root       = "/console"
	signInPath = root + "/sign-in"
	setupPath  = root + "/setup"
	// accountPath is where a person sees what it signs in with.
	accountPath  = root + "/account"
	passkeysPath = accountPath + "/passkeys"
	sessionsPath = accountPath + "/sessions"
	// ReturnPath is where a provider of single sign-on sends a browser back.
	ReturnPath = signInPath + "/return"
	// commandLinePath is where a person approves a sign-in of the command line.
	commandLinePath = root + "/command-line"
	// LinkPath is where a link leads; its token follows.
	LinkPath = root + "/link/"
	// platformPath is that of the pages of a platform, whose id without its prefix follows.
	platformPath = root + "/platforms/"
)

const (
	maxForm        = 64 << 10 // bytes
	requestTimeout = 20 * time.Second
)

//go:embed templates/*.html static/*
var files embed.FS

// New returns the pages.
func New(c Config) (*Console, error) {
	site, err := web.New(web.Options{PublicURL: c.PublicURL, Cookie: "console", Images: true, NoScript: true})
	if err != nil {
		return nil, err
	}
	provider, err := web.New(web.Options{PublicURL: c.PublicURL, Cookie: "console-browser"})
	if err != nil {
		return nil, err
	}
	_, err = templates()
	return &Console{Config: c, site: site, provider: provider, streams: make(chan struct{}, maxStreams)}, err
}

// templates are parsed once, and never executed themselves: each time zone has a copy.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(functions).ParseFS(files, "templates/*.html")
})

// Register passes every route to mount. Pages on which a secret could be guessed go through limit, which may refuse some
// requests. Path parameters are in braces.
func (c *Console) Register(mount func(method, pattern string, h http.Handler), limit func(http.Handler) http.Handler) {
	for _, r := range []struct {
		method, pattern string
		serve           func(*request) error
	}{
		{http.MethodGet, signInPath, c.showSignIn},
		{http.MethodPost, signInPath, c.signIn},
		{http.MethodPost, signInPath + "/passkey", c.signInWithPasskey},
		{http.MethodPost, signInPath + "/passkey/ask", c.asked(c.askForSignIn)},
		{http.MethodGet, signInPath + "/provider", c.beginSingleSignOn},
		{http.MethodGet, ReturnPath, c.returnFromProvider},
		{http.MethodGet, accountPath, c.working(c.showAccount)},
		{http.MethodPost, accountPath + "/time-zone", c.working(c.setTimeZone)},
		{http.MethodPost, passkeysPath, c.working(c.addPasskey)},
		{http.MethodPost, passkeysPath + "/ask", c.working(c.asked(c.askForPasskey))},
		{http.MethodGet, passkeysPath + "/{passkey}/remove", c.working(c.asking(c.removePasskey))},
		{http.MethodPost, passkeysPath + "/{passkey}/remove", c.working(c.acting(c.removePasskey))},
		{http.MethodGet, accountPath + "/password", c.working(c.asking(c.changePassword))},
		{http.MethodPost, accountPath + "/password", c.working(c.acting(c.changePassword))},
		{http.MethodGet, accountPath + "/authenticator", c.working(c.asking(c.replaceAuthenticator))},
		{http.MethodPost, accountPath + "/authenticator", c.working(c.acting(c.replaceAuthenticator))},
		{http.MethodGet, accountPath + "/recovery-codes", c.working(c.asking(c.renewRecoveryCodes))},
		{http.MethodPost, accountPath + "/recovery-codes", c.working(c.acting(c.renewRecoveryCodes))},
		{http.MethodGet, sessionsPath + "/others/end", c.working(c.asking(c.endOtherSessions))},
		{http.MethodPost, sessionsPath + "/others/end", c.working(c.acting(c.endOtherSessions))},
		{http.MethodGet, sessionsPath + "/{session}/end", c.working(c.asking(c.endSession))},
		{http.MethodPost, sessionsPath + "/{session}/end", c.working(c.acting(c.endSession))},
		{http.MethodPost, root + "/confirm/ask", c.working(c.asked(c.askForConfirmation))},
		{http.MethodGet, root + "/confirm/provider", c.working(c.confirmAtProvider)},
		{http.MethodGet, LinkPath + "{token}", c.showLink},
		{http.MethodPost, LinkPath + "{token}", c.openLink},
		{http.MethodGet, setupPath, c.inSession(c.showSetup)},
		{http.MethodPost, setupPath, c.inSession(c.setUp)},
		{http.MethodGet, commandLinePath, c.working(c.showCommandLine)},
		{http.MethodPost, commandLinePath, c.working(c.decideCommandLine)},
		{http.MethodPost, root + "/sign-out", c.inSession(c.signOut)},
	} {
		mount(r.method, r.pattern, limit(c.handler(r.serve)))
	}
	mount(http.MethodGet, root, c.handler(c.working(c.showPlatforms)))
	mount(http.MethodGet, root+"/", c.handler(func(r *request) error { return redirect(r, root) }))
	for _, r := range c.globalRoutes() {
		mount(r.method, root+r.pattern, c.handler(c.everywhere(r.right, r.serve)))
	}
	for _, r := range c.platformRoutes() {
		mount(r.method, platformPath+"{platform}"+r.pattern, c.handler(c.onPlatform(r.right, r.serve)))
	}
	mount(http.MethodGet, root+"/static/proof.js", web.StaticFile(files, "proof.js", "text/javascript; charset=utf-8"))
	mount(http.MethodGet, root+"/static/htmx.min.js", web.StaticFile(files, "htmx.min.js", "text/javascript; charset=utf-8"))
	mount(http.MethodGet, root+"/static/style.css", web.StaticFile(files, "style.css", "text/css; charset=utf-8"))
	mount(http.MethodGet, root+"/static/passkeys.js", web.StaticFile(files, "passkeys.js", "text/javascript; charset=utf-8"))
	mount(http.MethodGet, root+"/static/refresh.js", web.StaticFile(files, "refresh.js", "text/javascript; charset=utf-8"))
	mount(http.MethodGet, root+"/static/live.js", web.StaticFile(files, "live.js", "text/javascript; charset=utf-8"))
}

// platformRoute is a page of a platform, and the right that it needs.
type platformRoute struct {
	method, pattern string
	right           person.Right
	serve           func(*request) error
}

func (c *Console) platformRoutes() []platformRoute {
	return slices.Concat(
		c.paymentRoutes(), c.reviewRoutes(), c.agentApprovalRoutes(), c.monthRoutes(),
		c.reconciliationRoutes(), c.financeRoutes(), c.booksSettingsRoutes(), c.chartRoutes(), c.financialsRoutes(),
		c.unmatchedRoutes(), c.adjustmentRoutes(), c.exportRoutes(), c.recurringRoutes(), c.jobRoutes(), c.developerRoutes(), c.eventRoutes(),
		c.customerRoutes(), c.auditRoutes(), c.checkpointRoutes(),
		[]platformRoute{
			{http.MethodGet, "", person.View, c.showHome},
			{http.MethodGet, "/search", person.View, c.search},
			{http.MethodGet, "/payments", person.View, c.showPayments},
			{http.MethodGet, "/payments.csv", person.View, c.downloadPayments},
			{http.MethodPost, "/filters", person.View, c.saveFilter},
			{http.MethodGet, "/payments/{transaction}", person.View, c.showPayment},
			{http.MethodPost, "/payments/{transaction}", person.ViewPersonalData, c.revealPayment},
			{http.MethodGet, "/customers", person.View, c.list(c.showCustomers)},
			{http.MethodGet, "/customers/{customer}", person.View, c.showCustomer},
			{http.MethodPost, "/customers/{customer}", person.ViewPersonalData, c.revealCustomer},
			{http.MethodGet, "/trial-balance", person.View, c.list(c.showTrialBalance)},
			{http.MethodGet, "/entries", person.View, c.list(c.showEntries)},
			{http.MethodGet, "/postings/{posting}", person.View, c.showPosting},
			{http.MethodGet, "/proposals", person.View, c.showProposals},
			{http.MethodGet, "/proposals/{proposal}", person.View, c.showProposal},
			{http.MethodPost, "/proposals/{proposal}", person.ApproveBooks, c.decideProposal},
			{http.MethodGet, "/webhooks", person.View, c.showDeliveries},
			{http.MethodGet, "/webhooks/{webhook}", person.View, c.showDelivery},
			{http.MethodPost, "/webhooks/{webhook}", person.ViewPersonalData, c.revealDelivery},
		})
}

// request is a request for a page.
type request struct {
	*http.Request
	w http.ResponseWriter
	// client is the context of the request without the timeout of a page: that of a download.
	client context.Context
	// secret and in are set in a session, and platform on the pages of a platform.
	secret   string
	in       people.SignedIn
	platform platform.Platform
	// file is that of the form; nil for most.
	file *uploadedFile
	// isList: the page is a list that is a file too. lines takes those of the file, if it is written.
	isList bool
	lines  *listFile
	// last is the platform whose pages were open before, on a page of no platform; zero if there is none.
	last platform.Platform
}

// handler returns the handler that serves a page, and shows its error.
func (c *Console) handler(serve func(*request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.site.SetHeaders(w.Header())
		timeout := requestTimeout
		if takesFile(r) {
			timeout = importTimeout
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		in := &request{Request: r.WithContext(ctx), w: w, client: r.Context()}
		err := error(errForged)
		if c.site.IsOwn(r) {
			err = serve(in)
		}
		if err != nil {
			in.drain()
			c.showError(in, err)
		}
	})
}

// inSession returns a page that needs a session, also one in which a person may only choose its password.
func (c *Console) inSession(serve func(*request) error) func(*request) error {
	return func(r *request) error {
		secret := c.site.Session(r.Request)
		in, err := c.People.Session(r.Context(), secret)
		if err != nil {
			return err
		}
		r.secret, r.in = secret, in
		if r.Method != http.MethodPost {
			return serve(r)
		}
		if err := parseForm(r); err != nil {
			return err
		}
		if !web.HasFormToken(r.Request, secret) {
			return errForged
		}
		return serve(r)
	}
}

// working returns a page that needs a session of a person who has chosen its password.
func (c *Console) working(serve func(*request) error) func(*request) error {
	return c.inSession(func(r *request) error {
		if r.in.Setup {
			return redirect(r, setupPath)
		}
		return serve(r)
	})
}

// onPlatform returns a page of the platform in the path, which needs a right on it. What it reads is limited to the platform.
func (c *Console) onPlatform(right person.Right, serve func(*request) error) func(*request) error {
	return c.working(func(r *request) error {
		id, err := ident.ParsePlatform(ident.Platform{}.Prefix() + ":" + r.PathValue("platform"))
		if err != nil {
			return errNotFound
		}
		// Who may see nothing of a platform is not told whether it exists.
		if !r.in.Person.May(person.View, id) {
			return errNotFound
		}
		if err := r.in.Person.Check(right, id); err != nil {
			return err
		}
		r.Request = r.WithContext(ports.ForPlatform(r.Context(), id))
		if r.platform, err = c.Platforms.Settings(r.Context(), id); err != nil {
			return err
		}
		c.rememberPlatform(r)
		return serve(r)
	})
}

func parseForm(r *request) error {
	if takesFile(r.Request) {
		if err := r.readUpload(); err != nil {
			return err
		}
	} else {
		r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return errUnreadable
		}
	}
	for name, values := range r.PostForm {
		for _, text := range append(values, name) {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) { // which the database cannot store
				return errUnreadable
			}
		}
	}
	return nil
}
