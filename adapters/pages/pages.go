package pages

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/pages/web"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

// SelfService holds the use cases of the pages.
type SelfService interface {
	PlatformName(ctx context.Context, token string) (string, error)
	Open(ctx context.Context, token string) (customers.KYCSession, error)
	Session(ctx context.Context, secret string) (customers.KYCSession, error)
	Applicant(ctx context.Context, secret string) (customers.Applicant, error)
	Update(ctx context.Context, secret string, change customer.Change) error
	AddOwner(ctx context.Context, secret string, r customer.OwnerRequest) error
	UpdateOwner(ctx context.Context, secret string, id ident.BeneficialOwner, r customer.OwnerRequest) error
	Upload(ctx context.Context, secret string, owner ident.BeneficialOwner, r customers.DocumentRequest) error
	RemoveDocument(ctx context.Context, secret string, id ident.Document) error
	Submit(ctx context.Context, secret string) error
}

// Config holds what the pages need. All fields are required.
type Config struct {
	SelfService SelfService
	Log         *logrus.Logger
	// PublicURL is where the pages are, such as https://pay.example.com. With https, cookies are sent
	// over encrypted connections only.
	PublicURL string
}

// LinkPath is where a link leads; its token follows.
const LinkPath = "/verify/"

// home is the page with the state of a session. The others are below it.
const home = "/verification"

// Pages are the pages. Create them with New.
type Pages struct {
	Config
	site      *web.Site
	templates *template.Template
	languages []language
	uploads   *uploadSlots
}

const (
	maxForm = 64 << 10 // bytes
	maxFile = 10 << 20 // bytes, as in the API
	// maxParts limits the memory for the parts of a form with a file, also for empty ones.
	maxParts = 64
	// maxRead is what is read of a form with a file; browsers do not show the response to a form that
	// is read in part.
	maxRead        = 64 << 20
	requestTimeout = 20 * time.Second
	uploadTimeout  = 5 * time.Minute // the largest file with 280 kbit/s
)

//go:embed templates/*.html static/* texts/*.json
var files embed.FS

// New returns the pages.
func New(c Config) (*Pages, error) {
	site, err := web.New(web.Options{PublicURL: c.PublicURL, Cookie: "verification", Vary: "Accept-Language"})
	if err != nil {
		return nil, err
	}
	p := &Pages{Config: c, site: site, uploads: newUploadSlots()}
	if p.languages, err = readLanguages(); err != nil {
		return nil, err
	}
	p.templates, err = template.ParseFS(files, "templates/*.html")
	return p, err
}

// Register passes every route to mount, and every page through limit, which may refuse some requests.
// Path parameters are in braces.
func (p *Pages) Register(mount func(method, pattern string, h http.Handler), limit func(http.Handler) http.Handler) {
	for _, r := range []struct {
		method, pattern string
		serve           func(*request) error
	}{
		{http.MethodGet, LinkPath + "{token}", p.showLink},
		{http.MethodPost, LinkPath + "{token}", p.openLink},
		{http.MethodGet, home, p.inSession(p.showHome)},
		{http.MethodPost, home + "/submit", p.inSession(p.submit)},
		{http.MethodGet, home + "/return", p.inSession(p.returnToPlatform)},
		{http.MethodGet, home + "/details", p.inSession(p.showDetails)},
		{http.MethodPost, home + "/details", p.formInSession(p.saveDetails, detailsFormOf)},
		{http.MethodGet, home + "/owners/{owner}", p.inSession(p.showOwner)},
		{http.MethodPost, home + "/owners/{owner}", p.formInSession(p.saveOwner, ownerFormOf)},
		{http.MethodGet, home + "/documents/{holder}", p.inSession(p.showUpload)},
		{http.MethodPost, home + "/documents/{holder}", p.formInSession(p.upload, uploadFormOf)},
		{http.MethodPost, home + "/documents/{holder}/remove", p.inSession(p.removeDocument)},
	} {
		mount(r.method, r.pattern, limit(p.handler(r.serve)))
	}
	for name, contentType := range map[string]string{"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"} {
		mount(http.MethodGet, home+"/static/"+name, web.StaticFile(files, name, contentType))
	}
}

// request is a request for a page.
type request struct {
	*http.Request
	w        http.ResponseWriter
	language language
	// secret and applicant are set in a session.
	secret    string
	applicant customers.Applicant
	// file is that of a form, or nil. isFileTooLarge: it was not kept.
	file           *customers.DocumentFile
	isFileTooLarge bool
}

// handler returns the handler that serves a page, and shows its error.
func (p *Pages) handler(serve func(*request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.site.SetHeaders(w.Header())
		ctx, cancel := context.WithTimeout(r.Context(), uploadTimeout)
		defer cancel()
		in := &request{Request: r.WithContext(ctx), w: w, language: p.chooseLanguage(w, r)}
		err := error(errForged)
		if p.site.IsOwn(r) {
			err = serve(in)
		}
		if err != nil {
			p.showError(in, err)
		}
	})
}

// render writes a page with a template. Nothing is written if the template fails.
func (p *Pages) render(r *request, status int, name string, data view) error {
	data.set(r)
	return web.Write(r.w, status, p.templates, name, data)
}

// view is what a template shows.
type view interface{ set(r *request) }

// page is what every template shows.
type page struct {
	language
	// Title is the key of the title. PlatformName may be empty.
	Title, PlatformName string
	// CSRF is the token of forms in a session, and Customer names whose session it is.
	CSRF, Customer string
	// Path is that of the page, or of the one with the form that was sent, for the links to other
	// languages.
	Path string
	// HasErrors: the page shows what is wrong in a form.
	HasErrors bool
}

func (p *page) set(r *request) {
	p.language, p.Path = r.language, strings.TrimSuffix(strings.TrimSuffix(r.URL.Path, "/submit"), "/remove")
	if r.secret != "" {
		p.CSRF, p.Customer, p.PlatformName = web.FormToken(r.secret), customerMark(r.applicant), r.applicant.PlatformName
	}
}

// redirect goes to another page with GET.
func redirect(r *request, to string) error {
	http.Redirect(r.w, r.Request, to, http.StatusSeeOther)
	return nil
}

// faultOf returns the fault in an error, or one without a code.
func faultOf(err error) *fault.Error {
	if f, ok := fault.As(err); ok {
		return f
	}
	return &fault.Error{}
}
