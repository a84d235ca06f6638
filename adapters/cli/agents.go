package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/agents"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// AgentsCommand shows agents without their names, which customers may have chosen.
type AgentsCommand struct {
	List agentsListCommand `cmd:"" help:"Print agents, newest first: whether a program is connected, what each may send in a transaction, what it has sent today, and how many of its payments wait for approval."`
	Show agentsShowCommand `cmd:"" help:"Print an agent: its policy, what it has sent today and this month, and its payments that wait for approval."`
}

type agentsListCommand struct {
	platformFlags
	listFlags
	Customer string `help:"Only agents of this customer." placeholder:"ID"`
	Waiting  bool   `help:"Only agents with payments that wait for approval."`
}

func (c agentsListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	var filter ports.AgentFilter
	if c.Customer != "" {
		var err error
		if filter.Customer, err = ident.ParseCustomer(c.Customer); err != nil {
			return flagError("--customer", err)
		}
	}
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		rows, today := table.New("agent", "customer", "state", "per transaction", "sent today", ">waiting"), agent.DayOf(env.Clock.Now())
		read := func(paging ports.Paging) (ports.Page[agents.Activity], error) {
			filter.Paging = paging
			return services.Agents().Activities(ctx, p, filter)
		}
		for a, err := range ports.All(ports.Paging{Limit: 100}, read, func(a agents.Activity) uuid.UUID { return a.ID.UUID() }) {
			if err != nil {
				return err
			}
			if c.Waiting && a.Waiting.Total == 0 {
				continue
			}
			sent, err := sentText(a.Counters, today)
			if err != nil {
				return err
			}
			rows.Add(a.ID, a.Customer, agentState(a.Agent), table.OrDash(limitText(a.Policy.Limits, a.Policy.Limits.PerTransaction)),
				table.OrDash(sent), a.Waiting.Total)
			if rows.Len() == c.Limit {
				break
			}
		}
		return c.printTable(env, rows, "There are no such agents.")
	})
}

type agentsShowCommand struct {
	tableFlags
	Agent string `arg:"" help:"Id of the agent." placeholder:"AGENT"`
}

func (c agentsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseAgent(c.Agent)
	return c.show(ctx, env, OnBooks, argumentError("AGENT", err), func(services Services, p ident.Platform) (*table.Page, error) {
		now := env.Clock.Now()
		found, err := services.Agents().Activity(ctx, p, id)
		if err != nil {
			return nil, err
		}
		record := table.NewRecord("agent", id)
		addAgent(record, found.Agent)
		addPolicy(record, found.Policy)
		for _, sent := range [][2]string{{"sent today", agent.DayOf(now)}, {"sent this month", agent.MonthOf(now)}} {
			text, err := sentText(found.Counters, sent[1])
			if err != nil {
				return nil, err
			}
			record.Add(sent[0], table.OrDash(text))
		}
		for _, a := range found.Waiting.Items {
			record.Add("waits for approval", fmt.Sprintf("%s since %s: %s", a.ID, table.CellOf(a.CreatedAt).Text, actionText(a)))
		}
		if found.Waiting.More {
			record.Add("waits for approval", "and more")
		}
		return table.PageOf(record), nil
	})
}

func addAgent(record *table.Record, a agent.Agent) {
	record.Add("customer", a.Customer)
	record.Add("state", agentState(a))
	record.Add("connected", a.ConnectedAt)
	record.Add("created", a.CreatedAt)
	record.Add("changed", a.UpdatedAt)
}

func agentState(a agent.Agent) string {
	switch {
	case a.Paused:
		return "paused"
	case a.Connected():
		return "connected"
	default:
		return "not connected"
	}
}

func addPolicy(record *table.Record, p agent.Policy) {
	record.Add("permissions", joinTexts(p.Permissions, ", "))
	record.Add("mode", p.DefaultMode)
	record.Add("per transaction", table.OrDash(limitText(p.Limits, p.Limits.PerTransaction)))
	record.Add("per day", table.OrDash(limitText(p.Limits, p.Limits.Daily)))
	transactions := table.OrDash("")
	if p.Limits.DailyTransactions > 0 {
		transactions = table.CellOf(p.Limits.DailyTransactions)
	}
	record.Add("transactions per day", transactions)
	record.Add("per month", table.OrDash(limitText(p.Limits, p.Limits.Monthly)))
	threshold := table.OrDash("")
	if p.Threshold.Amount != nil {
		threshold = table.CellOf(money.Amount{Minor: *p.Threshold.Amount, Currency: p.Threshold.Currency})
	}
	record.Add("approval above", threshold)
	switch {
	case p.AllowedAccounts == nil:
		record.Add("allowed accounts", "all")
	case len(p.AllowedAccounts) == 0:
		record.Add("allowed accounts", "none")
	}
	for _, account := range p.AllowedAccounts {
		record.Add("allowed account", account)
	}
	for _, r := range p.AccountRules {
		record.Add("rule", fmt.Sprintf("%s: mode %s, per transaction %s", r.Account, cmp.Or(string(r.Mode), "-"),
			cmp.Or(limitText(p.Limits, r.PerTransaction), "-")))
	}
}

// limitText returns a limit; empty for none, which is zero.
func limitText(l agent.SpendingLimits, minor int64) string {
	if minor == 0 {
		return ""
	}
	return money.Amount{Minor: minor, Currency: l.Currency}.String()
}

// sentText returns what was sent on a day or in a month, exactly and in each currency; empty if nothing was.
func sentText(c agent.Counters, period string) (string, error) {
	sums, err := c.Sums(period)
	if err != nil || len(sums) == 0 {
		return "", err
	}
	texts := make([]string, len(sums))
	for i, sum := range sums {
		texts[i] = sum.String()
	}
	return fmt.Sprintf("%s (%d)", strings.Join(texts, ", "), c.Transactions(period)), nil
}

// actionText returns what an action does.
func actionText(a agent.Action) string {
	if a.Transfer == nil {
		return fmt.Sprintf("%s %s", a.Type, a.Quote)
	}
	return fmt.Sprintf("%s of %s between %s and %s", a.Type, a.Transfer.Amount, a.Transfer.Internal, a.Transfer.External)
}
