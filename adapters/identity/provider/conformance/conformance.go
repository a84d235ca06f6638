// Package conformance tests an identity provider with the contract of docs/identity-provider.md: it
// submits applications with test values as the service does, receives the decisions, and checks each
// rule.
package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/identity/provider"
	"causeway/core/verification"
	"causeway/ports"
)

// Options say which provider is tested. All fields are required.
type Options struct {
	URL     string
	Token   string
	Secrets provider.Secrets
	// CallbackURL is where the provider reaches the suite.
	CallbackURL string
	Clock       ports.Clock
	// Timeout is the maximum time to wait for a message.
	Timeout time.Duration
}

// Result is the result of a rule.
type Result struct {
	// Rule is the name of the rule, and Text says what it asks for.
	Rule, Text string
	Err        error // nil if the provider follows the rule
}

// Suite tests one provider once. As a http.Handler it receives the decisions.
type Suite struct {
	Options
	identity *provider.Identity
	files    testFiles
	received *inbox

	approved, rejected, corrected, reviewed, repeated, business, owner testApplication
}

// New returns a suite. Fault: an error for options that are not valid.
func New(o Options) (*Suite, error) {
	s := &Suite{Options: o, files: testFiles{}, received: newInbox()}
	var err error
	if s.identity, err = s.connect(o.Token, s.files); err != nil {
		return nil, err
	}
	now := o.Clock.Now()
	s.approved = s.newIndividual("Ana Ng", now)
	s.rejected, s.corrected = s.newIndividual("Ana REJECT", now), s.newIndividual("Ana CORRECT", now)
	s.reviewed, s.repeated = s.newIndividual("Ana REVIEW", now), s.newIndividual("Bo Ek", now)
	s.business, s.owner = s.newBusiness(now)
	s.received.failOnce(s.repeated.ID)
	return s, nil
}

func (s *Suite) connect(token string, files ports.Files) (*provider.Identity, error) {
	return provider.New(provider.Config{URL: s.URL, Token: token, CallbackURL: s.CallbackURL, Files: files, Clock: s.Clock,
		PollInterval: time.Minute})
}

// rule is one rule of the contract.
type rule struct {
	name, text string
	check      func(context.Context) error
}

func (s *Suite) rules() []rule {
	return []rule{
		{"token", "requests with another token get 401", s.checkToken},
		{"submit", "an application with files is accepted, and each file is listed with its SHA-256", s.checkSubmit},
		{"repeat", "a repeated submission is accepted, and changes nothing", s.checkRepeat},
		{"damaged-file", "a file that differs from its SHA-256 gets 400, and the application is not kept", s.checkDamagedFile},
		{"unknown", "the status of an unknown application is 404", s.checkUnknown},
		{"message", "a decision is sent to the callback URL", s.checkMessage},
		{"signature", "every message is signed, with the present time", s.checkSignatures},
		{"message-body", "every message has the ids of its submission and a documented state", s.checkBodies},
		{"resend", "a message that gets 503 is sent again, with the same webhook-id and body", s.checkResend},
		{"approve", "without a test value the decision is APPROVED", s.verdict(&s.approved, verification.Accepted)},
		{"review", "REVIEW becomes PENDING_MANUAL_REVIEW", s.verdict(&s.reviewed, verification.InReview)},
		{"reject", "REJECT becomes REJECTED", s.verdict(&s.rejected, verification.Refused)},
		{"correct", "CORRECT becomes RESOLVE_ERRORS, with errors about the customer", s.checkCorrections},
		{"business", "a business with two owners, and an owner, are decided each on its own", s.checkBusiness},
		{"status", "the status is the one that was sent", s.checkStatus},
	}
}

// Run checks every rule, calls report for each, and returns how many the provider does not follow.
func (s *Suite) Run(ctx context.Context, report func(Result)) (failed int) {
	defer s.identity.Close()
	for _, r := range s.rules() {
		err := r.check(ctx)
		if err != nil {
			failed++
		}
		report(Result{r.name, r.text, err})
	}
	return failed
}

// submit submits an application unless it was submitted.
func (s *Suite) submit(ctx context.Context, a *testApplication) error {
	if a.submitted {
		return nil
	}
	_, err := s.identity.Submit(ctx, a.Application, a.documents)
	a.submitted = err == nil
	return err
}

func (s *Suite) checkToken(ctx context.Context) error {
	stranger, err := s.connect(s.Token+"x", s.files)
	if err != nil {
		return err
	}
	defer stranger.Close()
	a := s.newIndividual("Ana Ng", s.Clock.Now())
	_, err = stranger.Submit(ctx, a.Application, a.documents)
	if err := wantStatus("the submission", err, http.StatusUnauthorized); err != nil {
		return err
	}
	_, err = stranger.Status(ctx, a.Application)
	return wantStatus("the status request", err, http.StatusUnauthorized)
}

// wantStatus returns an error unless err is the status of a response.
func wantStatus(request string, err error, want int) error {
	var status provider.StatusError
	switch {
	case err == nil:
		return fmt.Errorf("%s was answered as a success, not with %d", request, want)
	case !errors.As(err, &status) || int(status) != want:
		return fmt.Errorf("%s was not answered with %d: %w", request, want, err)
	}
	return nil
}

func (s *Suite) checkSubmit(ctx context.Context) error { return s.submit(ctx, &s.approved) }

// checkRepeat repeats a submission at once and after the decision.
func (s *Suite) checkRepeat(ctx context.Context) error {
	if err := s.submit(ctx, &s.approved); err != nil {
		return fmt.Errorf("not tested: %w", err)
	}
	_, err := s.identity.Submit(ctx, s.approved.Application, s.approved.documents)
	if err != nil {
		return err
	}
	m, err := s.received.await(ctx, s.Timeout, s.approved.ID, nil)
	if err != nil {
		return nil //nolint:nilerr // that no message arrives is another rule
	}
	outcome, err := s.identity.Submit(ctx, s.approved.Application, s.approved.documents)
	if err != nil {
		return err
	}
	if m.decision.IsFinal() && outcome.Verdict != m.decision.Verdict {
		return fmt.Errorf("the decision was %s, and %s when the submission was repeated", m.status, statuses[outcome.Verdict])
	}
	return nil
}

func (s *Suite) checkDamagedFile(ctx context.Context) error {
	a := s.newIndividual("Ana Ng", s.Clock.Now())
	damaged, err := s.connect(s.Token, damagedFiles{s.files})
	if err != nil {
		return err
	}
	defer damaged.Close()
	_, err = damaged.Submit(ctx, a.Application, a.documents)
	if err := wantStatus("the submission", err, http.StatusBadRequest); err != nil {
		return err
	}
	if _, err := s.identity.Status(ctx, a.Application); !errors.Is(err, ports.ErrUnknownApplication) {
		return fmt.Errorf("the status of the application is not 404: %w", orSuccess(err))
	}
	return nil
}

func (s *Suite) checkUnknown(ctx context.Context) error {
	if _, err := s.identity.Status(ctx, verification.Application{ID: uuid.New(), SubmittedAt: s.Clock.Now()}); !errors.Is(err,
		ports.ErrUnknownApplication) {
		return fmt.Errorf("the response is not 404: %w", orSuccess(err))
	}
	return nil
}

var errSuccess = errors.New("it is a success")

func orSuccess(err error) error {
	if err == nil {
		return errSuccess
	}
	return err
}

func (s *Suite) checkMessage(ctx context.Context) error {
	_, err := s.message(ctx, &s.approved, nil)
	return err
}

// message submits an application unless it was, and returns a message about it that matches.
func (s *Suite) message(ctx context.Context, a *testApplication, matches func(message) bool) (message, error) {
	if err := s.submit(ctx, a); err != nil {
		return message{}, fmt.Errorf("not tested: %w", err)
	}
	return s.received.await(ctx, s.Timeout, a.ID, matches)
}

func (s *Suite) checkSignatures(ctx context.Context) error {
	if err := s.checkMessage(ctx); err != nil {
		return err
	}
	for _, m := range s.received.all() {
		if m.refused != nil {
			return fmt.Errorf("a message about the application %s: %w", m.application, m.refused)
		}
	}
	return nil
}

func (s *Suite) checkBodies(ctx context.Context) error {
	if err := s.checkMessage(ctx); err != nil {
		return err
	}
	for _, m := range s.received.all() {
		if m.application != s.approved.ID {
			continue
		}
		if m.invalid != nil {
			return m.invalid
		}
		if m.decision.Platform != s.approved.Platform || m.decision.Subject != s.approved.Subject() {
			return errors.New("platformId or subjectId differ from the submission")
		}
	}
	return nil
}

func (s *Suite) checkResend(ctx context.Context) error {
	first, err := s.message(ctx, &s.repeated, nil)
	if err != nil {
		return err
	}
	again, err := s.received.await(ctx, s.Timeout, s.repeated.ID, func(m message) bool { return m.number > first.number })
	switch {
	case err != nil:
		return fmt.Errorf("it was not sent again: %w", err)
	case again.id != first.id:
		return fmt.Errorf("it was sent with the webhook-id %q, and again with %q", first.id, again.id)
	case !bytes.Equal(again.body, first.body):
		return errors.New("it was sent again with another body")
	}
	return nil
}

// statuses are the statuses of verdicts.
var statuses = map[verification.Verdict]verification.Status{
	verification.Waiting: verification.InProgress, verification.InReview: verification.PendingManualReview,
	verification.Correctable: verification.ResolveErrors,
	verification.Accepted:    verification.Approved, verification.Refused: verification.Rejected,
}

// verdict returns a check of the decision on an application.
func (s *Suite) verdict(a *testApplication, want verification.Verdict) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.decided(ctx, a, want)
		return err
	}
}

// decided returns the message with a decision.
func (s *Suite) decided(ctx context.Context, a *testApplication, want verification.Verdict) (message, error) {
	m, err := s.message(ctx, a, func(m message) bool { return m.decision.Verdict != verification.Waiting })
	if err != nil {
		return m, err
	}
	if m.decision.Verdict != want {
		return m, fmt.Errorf("the status in the message is %.40q, not %s", m.status, statuses[want])
	}
	return m, m.invalid
}

func (s *Suite) checkCorrections(ctx context.Context) error {
	m, err := s.decided(ctx, &s.corrected, verification.Correctable)
	if err != nil {
		return err
	}
	for _, e := range m.decision.Errors {
		if !s.corrected.has(e.Resource) {
			return fmt.Errorf("the error %s names neither the customer nor one of its documents", e.Type)
		}
	}
	return nil
}

func (s *Suite) checkBusiness(ctx context.Context) error {
	return errors.Join(s.verdict(&s.business, verification.Accepted)(ctx), s.verdict(&s.owner, verification.Accepted)(ctx))
}

func (s *Suite) checkStatus(ctx context.Context) error {
	for _, a := range []*testApplication{&s.approved, &s.rejected, &s.corrected, &s.reviewed} {
		m, err := s.message(ctx, a, func(m message) bool { return m.decision.Verdict != verification.Waiting })
		if err != nil {
			return err
		}
		outcome, err := s.identity.Status(ctx, a.Application)
		if err != nil {
			return err
		}
		if m.invalid == nil && outcome.Verdict != m.decision.Verdict {
			return fmt.Errorf("the status is %s, and the message says %s", statuses[outcome.Verdict], m.status)
		}
	}
	return nil
}
