package faults

import (
	"fmt"
	"net/http"
	"sync"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// agent is an agent of a customer. It pays up to automaticAmount on its own; the platform approves more.
type agent struct {
	id, token string
	limit     sync.Mutex // of those who change its limits
}

// automaticAmount is what an agent may pay without approval, in cents. Every agent may pay farLimit.
const (
	automaticAmount = quoteAmount
	farLimit        = 1_000_000_000_000
)

// askedTwice is the kind of payments whose approval an agent asks for twice.
const askedTwice = "payment by an agent that is approved"

// approval is a decision of the platform about an action of an agent.
type approval string

const (
	approves approval = "approve"
	rejects  approval = "reject"
)

// action is an action that was accepted, and how it must end.
type action struct {
	id, status string
	agent      *agent
	spent      int64 // in cents, if its payment completes
	waited     bool  // for the platform
}

func (s *system) createAgent(c *customer) *agent {
	s.t.Helper()
	created := s.mustCall(http.MethodPost, "/agents", kit.Object{"name": "Assistant", "customerId": c.id, "policy": kit.Object{
		"permissions": []string{"VIEW_TRANSACTIONS", "CREATE_QUOTES", "EXECUTE_QUOTES", "CREATE_TRANSFERS"}, "defaultExecutionMode": "AUTO",
		"spendingLimits":     kit.Object{"currency": "USD", "perTransactionLimit": farLimit, "dailyLimit": farLimit, "monthlyLimit": farLimit},
		"approvalThresholds": kit.Object{"currency": "USD", "amount": automaticAmount},
	}}, http.StatusCreated)
	redeemed := s.mustCall(http.MethodPost, "/agents/device-codes/"+created.text("deviceCode.code")+"/redeem", nil, http.StatusOK)
	return &agent{id: created.text("agent.id"), token: redeemed.text("accessToken")}
}

// callBy is call for the program of an agent.
func (l *load) callBy(a *agent, method, path string, body any, want ...int) (response, error) {
	return l.repeat(apiclient.Request{Method: method, Path: "/agents/me" + path, Body: body}, a, want...)
}

// executeBy lets the agent of a customer pay a quote. If that is above automaticAmount, the agent asks twice, and the
// platform approves it.
func (l *load) executeBy(from *customer, to string, amount int64) (payment, error) {
	quote, err := l.callBy(from.agent, http.MethodPost, "/quotes", kit.Object{"source": kit.Object{"accountId": from.account},
		"destination":        kit.Object{"accountId": to},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount}, http.StatusCreated)
	if err != nil {
		return payment{}, err
	}
	execute := func() (response, error) {
		return l.callBy(from.agent, http.MethodPost, "/quotes/"+quote.text("id")+"/execute", nil, http.StatusOK)
	}
	made, err := execute()
	one := l.delivered(quote, from.account, "chains/LAYER2 BTC")
	one.actions = []action{{made.text("id"), "APPROVED", from.agent, quote.int(l.t, "totalSendingAmount"), amount > automaticAmount}}
	if err == nil && amount > automaticAmount {
		again, repeatErr := execute()
		switch {
		case repeatErr != nil:
			return one, repeatErr
		case again.text("id") != made.text("id"):
			return one, fmt.Errorf("%s waits, and then %s", made.body, again.body)
		}
		made, err = l.decide(from.agent, made, approves)
	}
	if err == nil && (made.text("status") != "APPROVED" || made.text("transaction.id") != one.transactionID) {
		err = fmt.Errorf("the payment of %s has the action %s", one.transactionID, made.body)
	}
	return one, err
}

// transferBy lets an agent ask for a transfer, and returns its action, or a refusal.
func (l *load) transferBy(a *agent, from *customer, amount int64) (response, error) {
	body := transferBody(from.account, from.bank)
	body["amount"] = amount
	return l.callBy(a, http.MethodPost, "/transfer-out", body, http.StatusCreated, http.StatusForbidden)
}

// decide approves or rejects an action that waits, and returns it.
func (l *load) decide(a *agent, waiting response, decision approval) (response, error) {
	if waiting.text("status") != "PENDING_APPROVAL" {
		return waiting, fmt.Errorf("the action does not wait for approval: %s", waiting.body)
	}
	return l.call(http.MethodPost, "/agents/"+a.id+"/actions/"+waiting.text("id")+"/"+string(decision), nil, http.StatusOK)
}

// rejectTransfer lets an agent ask for a transfer that the platform rejects.
func (l *load) rejectTransfer(from *customer) (payment, error) {
	asked, err := l.transferBy(from.agent, from, 2*automaticAmount)
	if err != nil {
		return payment{}, err
	}
	rejected, err := l.decide(from.agent, asked, rejects)
	if err == nil && rejected.text("status") != "REJECTED" {
		err = fmt.Errorf("the platform has rejected the action %s", rejected.body)
	}
	return payment{actions: []action{{rejected.text("id"), "REJECTED", from.agent, 0, true}}}, err
}

// raceAtLimit lets an agent ask for several transfers at once, while its limits have room for one of them. If the platform
// has to approve them, it approves all at once.
func (l *load) raceAtLimit(from *customer, amount int64) (payment, error) {
	const atOnce = 3
	a := from.limitedAgent
	a.limit.Lock()
	defer a.limit.Unlock()
	before, err := l.call(http.MethodGet, "/agents/"+a.id, nil, http.StatusOK)
	if err != nil {
		return payment{}, err
	}
	// Both limits, so that one holds when a new day begins.
	limits := kit.Object{}
	for _, name := range []string{"daily", "monthly"} {
		limits[name+"Limit"] = before.int(l.t, "usage."+name+"Spend") + amount + amount/2
	}
	if _, err := l.call(http.MethodPatch, "/agents/"+a.id+"/policy", kit.Object{"spendingLimits": limits}, http.StatusOK); err != nil {
		return payment{}, err
	}

	var ends [atOnce]response
	var errs [atOnce]error
	var asked, decided sync.WaitGroup
	asked.Add(atOnce)
	for i := range atOnce {
		decided.Go(func() {
			ends[i], errs[i] = l.transferBy(a, from, amount)
			asked.Done()
			if errs[i] != nil || amount <= automaticAmount {
				return
			}
			asked.Wait() // what waits uses nothing of the limits, so all may wait
			ends[i], errs[i] = l.decide(a, ends[i], approves)
		})
	}
	decided.Wait()

	one := payment{status: "COMPLETED", events: deliveredEvents, moves: map[string]int64{from.account: -amount, "rails/RTP USD": amount}}
	for i, end := range ends {
		made := action{end.text("id"), end.text("status"), a, amount, amount > automaticAmount}
		switch reason := end.text("reason"); {
		case errs[i] != nil:
			return one, errs[i]
		case end.status == http.StatusForbidden && (reason == "DAILY_LIMIT" || reason == "MONTHLY_LIMIT"):
			continue // a refused request is no action
		case made.status == "APPROVED" && one.transactionID == "":
			one.transactionID = end.text("transaction.id")
		case made.status != "FAILED" || end.text("failureReason") == "":
			return one, fmt.Errorf("a transfer of %d cents beside one that has used the limits %v: %s", amount, limits, end.body)
		}
		one.actions = append(one.actions, made)
	}
	if one.transactionID == "" {
		return one, fmt.Errorf("none of %d transfers of %d cents was made, with the limits %v", atOnce, amount, limits)
	}
	return one, nil
}

// checkAgents compares the actions of the agents, what they have spent and their audit trail with the accepted payments.
func (l *load) checkAgents() {
	l.t.Helper()
	spent, count := map[*agent]int64{}, map[string]int{}
	for n, p := range l.payments {
		for _, a := range p.actions {
			count[a.status]++
			if a.status == "APPROVED" && p.status == "COMPLETED" {
				spent[a.agent] += a.spent
			}
			if a.waited {
				count["waited"]++
				if a.status == "APPROVED" && p.kind == askedTwice {
					count["asked again"]++
				}
			}
			if n < l.checked {
				continue
			}
			got, err := l.callBy(a.agent, http.MethodGet, "/actions/"+a.id, nil, http.StatusOK)
			if transaction := got.text("transaction.id"); err != nil || got.text("status") != a.status ||
				(transaction != "") != (a.status == "APPROVED") || transaction != "" && transaction != p.transactionID {
				l.t.Errorf("%s: want the action %s %s: %s, %v", p.kind, a.id, a.status, got.body, err)
			}
			if asked := l.receiver.requestsFor(a.id); a.waited && asked != 1 {
				l.t.Errorf("%s: %d events asked for the approval of %s, want 1", p.kind, asked, a.id)
			}
		}
	}
	for _, c := range l.customers {
		for _, a := range []*agent{c.agent, c.limitedAgent} {
			const query = "SELECT coalesce(sum(spent), 0) FROM agent_usage WHERE agent_id = $1"
			if got := l.queryInt(query, a.id[len("Agent:"):]); got != spent[a] {
				l.t.Errorf("the agent %s has spent %d cents, want %d", a.id, got, spent[a])
			}
		}
	}
	const asked, decided = "operation IN ('EXECUTE_QUOTE', 'TRANSFER_OUT') AND decision <> 'REFUSED'",
		"operation IN ('APPROVE_ACTION', 'REJECT_ACTION')"
	all := count["APPROVED"] + count["REJECTED"] + count["FAILED"]
	for what, c := range map[string]struct {
		query string
		want  int
	}{
		"actions":                 {"SELECT count(*) FROM agent_actions", all},
		"attempts with an action": {"SELECT count(DISTINCT action_id) FROM agent_attempts WHERE " + asked, all},
		"entries of attempts with an action": {"SELECT count(*) FROM agent_attempts WHERE action_id IS NOT NULL AND " + asked,
			all + count["asked again"]},
		"entries of decisions of the platform": {"SELECT count(*) FROM agent_attempts WHERE " + decided, count["waited"]},
		"transactions of agents that count":    {"SELECT count(*) FROM transactions WHERE usage_day IS NOT NULL", count["APPROVED"]},
	} {
		if got := l.queryInt(c.query); got != int64(c.want) {
			l.t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
	l.t.Logf("%5d actions of agents: %v", all, count)
}

// requestsFor returns how many events asked for the approval of an action.
func (r *receiver) requestsFor(action string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.approvals[action]
}
