package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

var agentActionID = numbered(ident.AgentAction{}, 71)

// fakeApprovals are payments of agents.
type fakeApprovals struct {
	*calls
	all     []payments.AgentAction
	refusal error
	failure *agent.Failure // of what is approved
}

func (f *fakeApprovals) AgentActions(ctx context.Context, p ident.Platform, filter ports.AgentActionFilter) (
	found ports.Page[payments.AgentAction], err error) {
	if filter.Status != agent.ActionPending || !filter.Ascending {
		f.t.Errorf("the filter is %+v", filter)
	}
	found.Items = f.all
	return found, f.read(ctx, p, "agent actions")
}

func (f *fakeApprovals) AgentAction(ctx context.Context, p ident.Platform, _ ident.Agent, id ident.AgentAction) (payments.AgentAction,
	error) {
	if err := f.read(ctx, p, "agent action %s", id); err != nil || len(f.all) == 0 {
		return payments.AgentAction{}, cmp.Or(err, agent.ActionNotFound(id))
	}
	return f.all[0], nil
}

func (f *fakeApprovals) ApproveAgentAction(ctx context.Context, by platform.Principal, _ ident.Agent, id ident.AgentAction,
	_ *ports.IdempotentRequest) (payments.AgentAction, error) {
	f.acted(by.Token.UUID())
	return payments.AgentAction{Action: agent.Action{Failure: f.failure}}, cmp.Or(f.read(ctx, by.Platform,
		"approve %s with %s in %s", id, by.Token, by.Environment), f.refusal)
}

func (f *fakeApprovals) RejectAgentAction(ctx context.Context, by platform.Principal, _ ident.Agent, id ident.AgentAction, reason string,
	_ *ports.IdempotentRequest) (payments.AgentAction, error) {
	f.acted(by.Token.UUID())
	return payments.AgentAction{}, cmp.Or(f.read(ctx, by.Platform, "reject %s with %s: %s", id, by.Token, reason), f.refusal)
}

func TestAgentApprovals_ListSaysWhyAndWhoDecides(t *testing.T) {
	t.Parallel()
	// The list has the age, the amount, the limit that was exceeded and who decides. Who may not decide has no button, and without any
	// the page says what makes payments wait.
	s := asCompliance(t)
	got := s.get(base + "/agent-approvals")
	for _, want := range []string{"3 hours", "2500.00", "It asks above 2000.00 USD.", "COMPLIANCE", "MANAGE"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	one := base + "/agent-approvals/" + agentActionID.UUID().String()
	if got := s.get(one); !strings.Contains(got.body, one+"/approve") || !strings.Contains(got.body, "5000.00 USD") {
		t.Errorf("%s", got.body)
	}
	if got := newSite(t).fill().as(person.Grant{Role: person.Finance}).get(one); strings.Contains(got.body, one+"/approve") {
		t.Errorf("finance may approve: %s", got.body)
	}
	s.approvals.all[0].Status = agent.ActionApproved
	if got := s.get(one); strings.Contains(got.body, one+"/approve") {
		t.Errorf("approved twice: %s", got.body)
	}
	if got := newSite(t).as(person.Grant{Role: person.Compliance}).get(base + "/agent-approvals"); !strings.Contains(got.body, "policy") {
		t.Errorf("nothing says what to do: %s", got.body)
	}
}

func TestAgentApprovals_DecidedWithTheTokenOfThePerson(t *testing.T) {
	t.Parallel()
	// A decision is made as over the API, with the token of the person, after it was recorded; a refusal is shown and recorded.
	one := base + "/agent-approvals/" + agentActionID.UUID().String()
	for action, want := range map[string]string{"approve": "approve " + agentActionID.String() + " with Token:",
		"reject": "reject " + agentActionID.String() + " with Token:"} {
		s := asCompliance(t)
		form := url.Values{"code": {"123456"}, "reason": {" Not ours "}}
		got := s.post(one+"/"+action, form)
		i := slices.IndexFunc(s.calls.log, func(call string) bool { return strings.Contains(call, want) })
		recorded := slices.IndexFunc(s.calls.log, func(call string) bool {
			return strings.HasPrefix(call, "ada@acme.example: "+strings.ToUpper(action)+"_PAYMENT "+agentActionID.String())
		})
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != one || recorded < 0 || i < recorded ||
			action == "reject" && !strings.HasSuffix(s.calls.log[i], ": Not ours") {
			t.Errorf("%s: %d to %s, calls %q", action, got.StatusCode, got.Header.Get("Location"), s.calls.log)
		}
		s.approvals.refusal = fault.New(fault.ActionNotPendingApproval, "It is decided.")
		if got := s.post(one+"/"+action, form); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "It is decided.") {
			t.Errorf("%s: %d %s", action, got.StatusCode, got.body)
		}
	}
}

func TestAgentApprovals_FailureAfterTheApproval(t *testing.T) {
	t.Parallel()
	// A payment that is approved and cannot be made any more is shown and recorded as what has failed.
	s := asCompliance(t)
	s.approvals.failure = &agent.Failure{Code: fault.Conflict, Message: "The quote has expired."}
	got := s.post(base+"/agent-approvals/"+agentActionID.UUID().String()+"/approve", url.Values{"code": {"123456"}})
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "has failed: The quote has expired.") ||
		!slices.ContainsFunc(s.calls.log, func(call string) bool {
			return strings.Contains(call, "CONFLICT: The payment was approved, and has failed: The quote has expired.")
		}) {
		t.Errorf("%d %s, calls %q", got.StatusCode, got.body, s.calls.log)
	}
}
