package kit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// IdentityProvider is a small identity provider as docs/identity-provider.md describes one, which decides
// by the test values of that page. It shares no code with the service. Create it with NewIdentityProvider.
type IdentityProvider struct {
	// Token is what requests must have, and Secret signs the decisions.
	Token, Secret string
	// Fault is what the provider does wrong; empty for nothing.
	Fault IdentityFault

	ctx     context.Context
	stop    context.CancelFunc
	sending sync.WaitGroup

	mu           sync.Mutex
	applications map[string]*identityApplication
	resumed      chan struct{} // closed unless the provider is paused
	isDown       bool
}

// IdentityFault is something that a provider does wrong.
type IdentityFault string

// The faults.
const (
	AcceptsAnyToken      IdentityFault = "accepts any token"
	DecidesAgain         IdentityFault = "decides again when a submission is repeated"
	RefusesRepetition    IdentityFault = "refuses a repeated submission"
	KnowsEverything      IdentityFault = "has a state of applications that it does not know"
	IgnoresDamage        IdentityFault = "accepts files that differ from their SHA-256"
	ForgetsFiles         IdentityFault = "lists no files"
	RedirectsSubmissions IdentityFault = "redirects submissions"
	AnswersAtLength      IdentityFault = "answers with a large body"
	InventsStatuses      IdentityFault = "has a status of its own"
	ListsNoErrors        IdentityFault = "asks for corrections of nothing"
	BlamesOthers         IdentityFault = "names errors of somebody else"
	SendsNothing         IdentityFault = "sends no decisions"
	SendsUnsigned        IdentityFault = "sends decisions without a signature"
	SignsOtherwise       IdentityFault = "signs with another secret"
	SignsNoTimestamp     IdentityFault = "signs the body only"
	SendsOldTimestamps   IdentityFault = "sends old timestamps"
	SendsOnce            IdentityFault = "repeats no message"
	ChangesIDs           IdentityFault = "repeats a message with another id"
	OmitsSubject         IdentityFault = "sends decisions without their subject"
	ChangesMind          IdentityFault = "has another status than it sent"
)

// identityApplication is what the provider knows of an application.
type identityApplication struct {
	submissions int
	state       map[string]any
	files       []map[string]string
}

// NewIdentityProvider returns a provider. Close it.
func NewIdentityProvider(token, secret string) *IdentityProvider {
	p := &IdentityProvider{Token: token, Secret: secret, applications: map[string]*identityApplication{}, resumed: make(chan struct{})}
	close(p.resumed)
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Close ends the sending of decisions.
func (p *IdentityProvider) Close() {
	p.stop()
	p.sending.Wait()
}

// Pause lets the provider receive submissions, and answer and decide none until Resume.
func (p *IdentityProvider) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resumed = make(chan struct{})
}

// Resume continues after Pause.
func (p *IdentityProvider) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.resumed)
}

// SetDown says whether the provider answers every request with 503.
func (p *IdentityProvider) SetDown(isDown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isDown = isDown
}

// Applications returns how many applications were submitted, and in how many requests.
func (p *IdentityProvider) Applications() (applications, submissions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.applications {
		submissions += a.submissions
	}
	return len(p.applications), submissions
}

// Files returns how many files were received with all applications.
func (p *IdentityProvider) Files() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.applications {
		n += len(a.files)
	}
	return n
}

// ServeHTTP implements http.Handler.
func (p *IdentityProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, found := strings.CutPrefix(r.URL.Path, "/applications/")
	p.mu.Lock()
	isDown := p.isDown
	p.mu.Unlock()
	switch {
	case isDown:
		http.Error(w, "maintenance", http.StatusServiceUnavailable)
	case !found:
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Bearer "+p.Token && p.Fault != AcceptsAnyToken:
		http.Error(w, "the token is not known", http.StatusUnauthorized)
	case r.Method == http.MethodPut && p.Fault == RedirectsSubmissions:
		http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusPermanentRedirect)
	case r.Method == http.MethodPut:
		p.submit(w, r, id)
	case r.Method == http.MethodGet:
		p.show(w, id)
	default:
		http.Error(w, "PUT and GET only", http.StatusMethodNotAllowed)
	}
}

// submittedApplication is what the provider reads of an application.
type submittedApplication struct {
	ID, PlatformID, SubjectID, CallbackURL string
	Owner                                  *struct{ PersonalInfo struct{ LastName string } }
	Customer                               struct {
		ID, FullName string
		BusinessInfo *struct{ RegistrationNumber string }
	}
	Documents []struct {
		ID, SHA256 string
		Size       int64
	}
}

// testValue returns the text whose end decides on the application.
func (a submittedApplication) testValue() string {
	value := a.Customer.FullName
	if a.Customer.BusinessInfo != nil {
		value = a.Customer.BusinessInfo.RegistrationNumber
	}
	if a.Owner != nil {
		value = a.Owner.PersonalInfo.LastName
	}
	return value
}

// submit receives an application, and decides it unless it is known.
func (p *IdentityProvider) submit(w http.ResponseWriter, r *http.Request, id string) {
	a, files, err := p.readSubmission(r)
	if err == nil && a.ID != id {
		err = errors.New("the application has another id than the path")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	known, isKnown := p.applications[id]
	if !isKnown {
		known = &identityApplication{files: files, state: map[string]any{"id": id, "platformId": a.PlatformID, "subjectId": a.SubjectID,
			"status": "IN_PROGRESS"}}
		p.applications[id] = known
	}
	known.submissions++
	if isKnown && p.Fault == DecidesAgain {
		known.state["status"] = "REJECTED"
	}
	resumed := p.resumed
	p.mu.Unlock()
	if isKnown && p.Fault == RefusesRepetition {
		http.Error(w, "the application is known", http.StatusConflict)
		return
	}
	if !isKnown {
		p.sending.Go(func() { p.decide(a, known, resumed) })
	}
	select {
	case <-resumed:
		p.show(w, id)
	case <-r.Context().Done():
	case <-p.ctx.Done():
	}
}

// readSubmission reads the application and its files.
func (p *IdentityProvider) readSubmission(r *http.Request) (a submittedApplication, files []map[string]string, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return a, nil, err
	}
	first, err := parts.NextPart()
	if err != nil {
		return a, nil, err
	}
	if err := json.NewDecoder(io.LimitReader(first, 1<<20)).Decode(&a); err != nil {
		return a, nil, err
	}
	for _, d := range a.Documents {
		part, err := parts.NextPart()
		if err != nil {
			return a, nil, fmt.Errorf("the file of %s: %w", d.ID, err)
		}
		digest := sha256.New()
		size, err := io.Copy(digest, part)
		if err != nil {
			return a, nil, err
		}
		sum := hex.EncodeToString(digest.Sum(nil))
		if (sum != d.SHA256 || size != d.Size || part.FormName() != d.ID) && p.Fault != IgnoresDamage {
			return a, nil, fmt.Errorf("the file of %s is not the one that is described", d.ID)
		}
		files = append(files, map[string]string{"id": d.ID, "sha256": d.SHA256})
	}
	if _, err := parts.NextPart(); !errors.Is(err, io.EOF) {
		return a, nil, errors.New("there are more files than described")
	}
	return a, files, nil
}

// show writes the state of an application.
func (p *IdentityProvider) show(w http.ResponseWriter, id string) {
	p.mu.Lock()
	a, known := p.applications[id]
	state := map[string]any{"id": id, "status": "IN_PROGRESS"}
	if known {
		for name, value := range a.state {
			state[name] = value
		}
		if p.Fault != ForgetsFiles {
			state["documents"] = a.files
		}
	}
	p.mu.Unlock()
	if !known && p.Fault != KnowsEverything {
		http.Error(w, "there is no such application", http.StatusNotFound)
		return
	}
	switch {
	case p.Fault == AnswersAtLength:
		state["history"] = strings.Repeat("x", 100_000)
	case p.Fault == ChangesMind && state["status"] == "APPROVED":
		state["status"] = "REJECTED"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(state)
}

// decide decides an application by its test value, and sends the decision.
func (p *IdentityProvider) decide(a submittedApplication, known *identityApplication, resumed <-chan struct{}) {
	select {
	case <-resumed:
	case <-p.ctx.Done():
		return
	}
	p.mu.Lock()
	state := map[string]any{"id": a.ID, "platformId": a.PlatformID, "subjectId": a.SubjectID}
	switch value := a.testValue(); {
	case strings.HasSuffix(value, "REVIEW"):
		state["status"] = "PENDING_MANUAL_REVIEW"
	case strings.HasSuffix(value, "REJECT"):
		state["status"], state["errors"] = "REJECTED",
			[]map[string]string{{"resourceId": a.Customer.ID, "type": "APPLICANT_REJECTED", "reason": "Rejected by a test value."}}
	case strings.HasSuffix(value, "CORRECT"):
		state["status"], state["errors"] = "RESOLVE_ERRORS",
			[]map[string]string{{"resourceId": a.Customer.ID, "type": "INVALID_FIELD", "field": "address", "reason": "Differs from the register."}}
	default:
		state["status"] = "APPROVED"
	}
	switch {
	case p.Fault == InventsStatuses:
		state["status"] = "CLEAR"
	case p.Fault == ListsNoErrors:
		delete(state, "errors")
	case p.Fault == BlamesOthers && state["errors"] != nil:
		state["errors"] = []map[string]string{{"resourceId": "Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22", "type": "INVALID_DOCUMENT",
			"reason": "Somebody else's."}}
	}
	known.state = state
	if p.Fault == OmitsSubject {
		state = map[string]any{"id": a.ID, "platformId": a.PlatformID, "status": state["status"], "errors": state["errors"]}
	}
	body, err := json.Marshal(state)
	p.mu.Unlock()
	if err == nil && p.Fault != SendsNothing {
		p.send(a.CallbackURL, body)
	}
}

// retryDelays are the times between the attempts to send a decision; the last one is repeated. Those of
// a real provider are longer.
var retryDelays = []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond}

// send sends a message until it is answered with a status that ends it.
func (p *IdentityProvider) send(to string, body []byte) {
	id := "msg_" + rand.Text()
	for attempt := 0; ; attempt++ {
		if p.Fault == ChangesIDs {
			id = "msg_" + rand.Text()
		}
		if status := p.sendOnce(to, id, body); status != 0 && status != http.StatusTooManyRequests && status != http.StatusUnauthorized &&
			status < 500 || p.Fault == SendsOnce {
			return
		}
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(retryDelays[min(attempt, len(retryDelays)-1)]):
		}
	}
}

// sendOnce makes one attempt, and returns the status of the response; 0 for none.
func (p *IdentityProvider) sendOnce(to, id string, body []byte) int {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	if p.Fault == SendsOldTimestamps {
		timestamp = strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)
	}
	secret := p.Secret
	if p.Fault == SignsOtherwise {
		secret = "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return 0
	}
	content := slices.Concat([]byte(id+"."+timestamp+"."), body)
	if p.Fault == SignsNoTimestamp {
		content = body
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(content)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("webhook-id", id)
	request.Header.Set("webhook-timestamp", timestamp)
	if p.Fault != SendsUnsigned {
		request.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
