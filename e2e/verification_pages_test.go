package e2e

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"causeway/e2e/kit"
)

// pagesClient is a browser without script on the pages of a verification.
type pagesClient struct {
	t      *testing.T
	client *http.Client
	root   string
	// csrf is that of the last page.
	csrf string
}

// newPagesClient opens a new link of a customer, and returns the client on the overview.
func newPagesClient(t *testing.T, p *tenant, customer, redirectURI string) *pagesClient {
	t.Helper()
	link := p.post("/customers/"+customer+"/kyc-link", object{"redirectUri": redirectURI}).wantStatus(201).text("kycUrl")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &pagesClient{t: t, client: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "example.com" {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	b.root = u.Scheme + "://" + u.Host
	b.get(u.Path).want(200, "Start")
	b.post(u.Path, nil).want(200, "What we need from you")
	return b
}

// pageResponse is a page.
type pageResponse struct {
	t *testing.T
	*http.Response
	body string
}

func (r pageResponse) want(status int, texts ...string) pageResponse {
	r.t.Helper()
	if r.StatusCode != status {
		r.t.Fatalf("%s: status %d, want %d\n%s", r.Request.URL.Path, r.StatusCode, status, r.body)
	}
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			r.t.Errorf("%s has no %q\n%s", r.Request.URL.Path, text, r.body)
		}
	}
	return r
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]*)"`)

func (b *pagesClient) send(r *http.Request) pageResponse {
	b.t.Helper()
	response, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if found := csrfField.FindSubmatch(body); found != nil {
		b.csrf = string(found[1])
	}
	return pageResponse{b.t, response, string(body)}
}

func (b *pagesClient) request(method, path, contentType string, body io.Reader) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.root+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Origin", b.root)
	}
	return r
}

func (b *pagesClient) get(path string) pageResponse {
	b.t.Helper()
	return b.send(b.request(http.MethodGet, path, "", nil))
}

// post fills in the form of a page, and returns the page that follows.
func (b *pagesClient) post(path string, fields map[string]string) pageResponse {
	b.t.Helper()
	b.get(strings.TrimSuffix(strings.TrimSuffix(path, "/submit"), "/remove"))
	form := url.Values{"csrf": {b.csrf}}
	for name, value := range fields {
		form.Set(name, value)
	}
	return b.send(b.request(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode())))
}

// postTogether sends the form of a page several times at the same moment, and returns the overview
// afterwards.
func (b *pagesClient) postTogether(path string, fields map[string]string) pageResponse {
	b.t.Helper()
	b.get(path)
	form := url.Values{"csrf": {b.csrf}}
	for name, value := range fields {
		form.Set(name, value)
	}
	var running sync.WaitGroup
	for range 4 {
		r := b.request(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
		running.Go(func() {
			response, err := b.client.Do(r)
			if err != nil {
				b.t.Error(err)
				return
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK {
				b.t.Errorf("%s: status %d", path, response.StatusCode)
			}
		})
	}
	running.Wait()
	return b.get("/verification")
}

// upload uploads an image as a document.
func (b *pagesClient) upload(path string, fields map[string]string) pageResponse {
	b.t.Helper()
	b.get(path).want(200)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("csrf", b.csrf)
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	file, err := w.CreateFormFile("file", "scan.png")
	if err == nil {
		err = png.Encode(file, image.NewGray(image.Rect(0, 0, 40, 30)))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return b.send(b.request(http.MethodPost, path, w.FormDataContentType(), &body))
}

func addressFields(path string, country string) map[string]string {
	return map[string]string{path + ".line1": "1 Main St", path + ".city": "Austin", path + ".state": "TX", path + ".postalCode": "78701",
		path + ".country": country}
}

func merged(maps ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range maps {
		for name, value := range m {
			all[name] = value
		}
	}
	return all
}

func identityDocument(kind, side string) map[string]string {
	return map[string]string{"documentType": kind, "side": side, "country": "DE", "documentNumber": "C01X00T47",
		"issuingAuthority": "Stadt Berlin"}
}

func TestVerificationPages_BusinessFromInvitationToErasure(t *testing.T) {
	t.Parallel()
	// A business that a customer of another platform invited opens its link, and enters its data, two
	// owners and the documents that the pages ask for. It is approved, returns to the platform, pays, is
	// deleted and erased.
	h := newTestEnv(t)
	p := h.createPlatform("Acme Pay", "SANDBOX")
	business := p.createCustomer(object{"customerType": "BUSINESS", "region": "US", "businessInfo": object{"legalName": "Nordlicht Inc"}})
	umaAddress := func(p *tenant, customer string) string {
		return p.get("/customers/" + customer).wantStatus(200).text("umaAddress")
	}
	h.patch("/config", object{"invitationUrl": "https://example.com/join"}).wantStatus(200)
	invitation := h.post("/invitations", object{"inviterUma": umaAddress(h.tenant, h.createCustomer())}).wantStatus(201).text("code")
	p.post("/invitations/"+invitation+"/claim", object{"inviteeUma": umaAddress(p, business)}).wantStatus(200)
	wallet := p.createWallet(business, "")
	p.post("/quotes", kit.RampQuoteBody(business, wallet, "SENDING", 100_50)).wantError(403, "USER_NOT_READY")

	p.patch("/config", object{"kycRedirectOrigins": []string{"https://example.com"}}).wantStatus(200)
	b := newPagesClient(t, p, business, "https://example.com/done?customer=1")
	b.get("/verification").want(200, "Tax number", "who owns the business", "Acme Pay")

	b.post("/verification/details", merged(addressFields("address", "US"), map[string]string{"businessInfo.country": "US",
		"businessInfo.entityType":         "CORPORATION",
		"businessInfo.registrationNumber": "HRB 12345", "businessInfo.taxId": "12-345"})).want(200, "Some details are not valid")
	b.get("/verification/details").want(200, "nine digits")
	b.post("/verification/details", merged(addressFields("address", "US"), map[string]string{"businessInfo.taxId": "12-3456789"})).want(200)
	grace := merged(addressFields("personalInfo.address", "US"), map[string]string{"roles": "CONTROL_PERSON", "ownershipPercentage": "60",
		"personalInfo.firstName": "Grace",
		"personalInfo.lastName":  "Hopper", "personalInfo.birthDate": "1970-01-02", "personalInfo.nationality": "DE",
		"personalInfo.idType": "NON_US_TAX_ID", "personalInfo.identifier": "12345678901",
		"personalInfo.countryOfIssuance": "DE"})
	b.postTogether("/verification/owners/new", grace).want(200, "Grace Hopper", "A passport")
	p.get("/beneficial-owners?customerId=" + business).wantStatus(200).wantValues(map[string]any{"totalCount": 1})
	ada := merged(grace, map[string]string{"roles": "UBO", "personalInfo.firstName": "Ada", "personalInfo.lastName": "Lovelace",
		"personalInfo.nationality": "US",
		"personalInfo.idType":      "SSN", "personalInfo.identifier": "123-45-6789", "personalInfo.countryOfIssuance": "US"})
	b.post("/verification/owners/new", ada).want(422, "All owners together have at most 100 percent")
	ada["ownershipPercentage"] = "40"
	overview := b.post("/verification/owners/new", ada).want(200, "Ada Lovelace")
	for _, kind := range []string{"CERTIFICATE_OF_INCORPORATION", "DIRECTOR_REGISTRY", "SHAREHOLDER_REGISTER", "BANK_STATEMENT"} {
		b.upload("/verification/documents/own", map[string]string{"documentType": kind, "country": "US"}).want(200, "scan.png")
	}
	b.upload("/verification/documents/own", map[string]string{"documentType": "UTILITY_BILL", "country": "US"}).want(200, "Remove")
	wrong := p.get("/documents?documentHolder=" + business).wantStatus(200).text("data.0.id")
	b.post("/verification/documents/own/remove", map[string]string{"document": strings.TrimPrefix(wrong, "Document:")}).want(200,
		"Already uploaded")
	p.get("/documents/"+wrong).wantError(404, "DOCUMENT_NOT_FOUND")
	graceDocuments := regexp.MustCompile(`/verification/documents/[0-9a-f-]{36}`).FindString(overview.body)
	b.upload(graceDocuments, identityDocument("PASSPORT", "")).want(200, "Passport")
	b.upload(graceDocuments, identityDocument("NATIONAL_ID", "FRONT")).want(200, "Front")
	if got := b.get("/verification"); strings.Contains(got.body, "/verification/submit") {
		t.Fatalf("it can be submitted without the other side of the card\n%s", got.body)
	}
	b.upload(graceDocuments, identityDocument("NATIONAL_ID", "BACK")).want(200, "Back")
	b.get("/verification").want(200, "Everything is complete")
	b.post("/verification/submit", nil).want(200)
	eventually(t, "the approval", func() bool { return strings.Contains(b.get("/verification").body, "You are verified") })
	if got := b.get("/verification/return"); got.Header.Get("Location") != "https://example.com/done?customer=1" {
		t.Errorf("returned to %q", got.Header.Get("Location"))
	}
	p.patch("/config", object{"kycRedirectOrigins": []string{"https://other.example.com"}}).wantStatus(200)
	b.get("/verification/return").want(200, "You are verified")

	p.get("/customers/" + business).wantStatus(200).wantValues(map[string]any{"kybStatus": "APPROVED", "businessInfo.taxId": "12-3456789"})
	quote := p.post("/quotes", kit.RampQuoteBody(business, wallet, "SENDING", 100_50)).wantStatus(201)
	p.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD"}).wantStatus(200)
	eventually(t, "a payment", func() bool {
		return p.get("/transactions/"+quote.text("transactionId")).wantStatus(200).text("status") == "COMPLETED"
	})
	p.delete("/customers/" + business).wantStatus(200)
	b.get("/verification").want(410, "This link cannot be used any more")
	if text, errors, status := runCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey},
		"customers", "erase", business, "--platform", p.platformID, "--actor", "ana", "--now"); status != 0 {
		t.Errorf("erase: %d\n%s%s", status, text, errors)
	}
	p.get("/documents?documentHolder=" + business).wantStatus(200).wantValues(map[string]any{"totalCount": 0})
}

func TestVerificationPages_IndividualWaitsForOperator(t *testing.T) {
	t.Parallel()
	// On a production platform a person of the operator decides. Until then the page waits, and nothing
	// can be changed. Another browser cannot open the link.
	h := newTestEnv(t)
	p := h.createPlatform("Acme Pay", "PRODUCTION")
	customer := p.post("/customers", object{"customerType": "INDIVIDUAL", "region": "DE", "fullName": "Ada Lovelace"}).wantStatus(
		201).text("id")
	b := newPagesClient(t, p, customer, "")
	b.post("/verification/details", merged(addressFields("address", "DE"), map[string]string{"birthDate": "2190-01-02"})).want(422,
		"Enter a date in the past.", `value="2190-01-02"`)
	b.post("/verification/details", merged(addressFields("address", "DE"), map[string]string{"birthDate": "1990-01-02",
		"nationality": "DE"})).want(200)
	b.upload("/verification/documents/own", identityDocument("PASSPORT", "")).want(200, "scan.png")
	b.get("/verification").want(200)

	b.post("/verification/submit", nil).want(200, "We are checking your details")
	b.get("/verification/details").want(200, "We are checking your details")
	eventually(t, "a review", func() bool {
		return p.get("/verifications?customerId="+customer).wantStatus(200).text("data.0.verificationStatus") == "PENDING_MANUAL_REVIEW"
	})
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	verification := p.get("/verifications?customerId=" + customer).text("data.0.id")
	application := ""
	if err := h.db.QueryRow(`SELECT application_id::text FROM verifications WHERE id = $1`,
		uuidOf(verification)).Scan(&application); err != nil {
		t.Fatal(err)
	}
	if text, errors, status := runCommand(t, env, "reviews", "approve", verification, "--platform", p.platformID, "--application", application,
		"--actor", "ana", "--reason", "Compared with the passport"); status != 0 {
		t.Fatalf("approve: %d\n%s%s", status, text, errors)
	}
	b.get("/verification").want(200, "You are verified")
	p.get("/customers/" + customer).wantStatus(200).wantValues(map[string]any{"kycStatus": "APPROVED"})
}
