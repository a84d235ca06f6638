package httpapi

import (
	"cmp"
	_ "embed" // for the page
	"html/template"
	"net/http"
)

//go:embed welcome.html
var welcomeHTML string

const welcomeCSS = `body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }`

var (
	welcomePage   = template.Must(template.New("welcome").Parse(welcomeHTML))
	welcomePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-" +
		sha256Base64(welcomeCSS) + "'"
)

// welcome serves the page at /, for people who open the address of the service.
func (a *API) welcome(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header["Cache-Control"] = noStore
	header.Set("Content-Security-Policy", welcomePolicy)
	out := getBuffer()
	defer putBuffer(out)
	err := welcomePage.Execute(out, struct {
		CSS                template.CSS
		Version, Base, URL string
		Console, Ready     bool
	}{welcomeCSS, a.config.Version, BasePath, cmp.Or(a.config.PublicURL, BasePath), a.router.items["/console"] != nil,
		a.checkReady(r.Context()) == nil})
	if err != nil {
		panic(err) // a test renders it
	}
	_, _ = w.Write(out.Bytes()) // the client may have disconnected
}
