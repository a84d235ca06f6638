package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// agentsCommand shows agents without their names, which customers may have chosen.
type agentsCommand struct {
	List agentsListCommand `cmd:"" help:"Print agents, newest first: whether a program is connected, what each may send in a transaction, what it has sent today, and how many of its payments wait for approval."`
	Show agentsShowCommand `cmd:"" help:"Print an agent: its policy, what it has sent today and this month, and its payments that wait for approval."`
}

type agentsListCommand struct {
	databaseFlags
	platformFlag
	Customer string `help:"Only agents of this customer." placeholder:"ID"`
	Waiting  bool   `help:"Only agents with payments that wait for approval."`
	Limit    int    `default:"100" help:"Maximum number of agents, from 1 to 10000."`
}

// maxListedAgents is the maximum number of agents that a command prints.
const maxListedAgents = 10_000

func (c agentsListCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Limit < 1 || c.Limit > maxListedAgents {
		return fmt.Errorf("--limit must be from 1 to %d, not %d", maxListedAgents, c.Limit)
	}
	filter := ports.AgentFilter{Paging: ports.Paging{Limit: 100}}
	if c.Customer != "" {
		var err error
		if filter.Customer, err = ident.ParseCustomer(c.Customer); err != nil {
			return fmt.Errorf("--customer: %w", err)
		}
	}
	return c.withAgents(ctx, c.Platform, func(r agentReader) error {
		rows := table{rightAligned: []int{5}}
		for {
			page, err := r.db.Agents(ctx, r.platform, filter)
			if err != nil {
				return err
			}
			if err := r.addAgents(ctx, &rows, page.Items, c); err != nil {
				return err
			}
			if !page.More || len(rows.rows) >= c.Limit {
				break
			}
			filter.After = page.Items[len(page.Items)-1].ID.UUID()
		}
		if len(rows.rows) == 0 {
			_, err := fmt.Fprintln(out, "There are no such agents.")
			return err
		}
		return rows.write(out, "agent", "customer", "state", "per transaction", "sent today", "waiting")
	})
}

type agentsShowCommand struct {
	databaseFlags
	platformFlag
	Agent string `arg:"" help:"Id of the agent." placeholder:"AGENT"`
}

func (c agentsShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := ident.ParseAgent(c.Agent)
	if err != nil {
		return fmt.Errorf("AGENT %w", err)
	}
	return c.withAgents(ctx, c.Platform, func(r agentReader) error {
		found, err := r.db.Agent(ctx, r.platform, id)
		if err != nil {
			return err
		}
		counters, err := r.db.AgentCounters(ctx, r.platform, []ident.Agent{id}, agent.MonthOf(r.now))
		if err != nil {
			return err
		}
		waiting, err := r.db.AgentActions(ctx, r.platform, ports.AgentActionFilter{Paging: ports.Paging{Limit: 100}, Agent: id, Status: agent.ActionPending})
		if err != nil {
			return err
		}
		rows := table{}
		addAgent(&rows, found)
		addPolicy(&rows, found.Policy)
		for _, sent := range [][2]string{{"sent today", agent.DayOf(r.now)}, {"sent this month", agent.MonthOf(r.now)}} {
			text, err := sentText(counters[id], sent[1])
			if err != nil {
				return err
			}
			rows.add(sent[0], text)
		}
		for _, a := range waiting.Items {
			rows.add("waits for approval", fmt.Sprintf("%s since %s: %s", a.ID, timeCell(a.CreatedAt), actionText(a)))
		}
		if waiting.More {
			rows.add("waits for approval", "and more")
		}
		return rows.write(out, "agent", id.String())
	})
}

// agentReader reads the agents of a platform.
type agentReader struct {
	db       *postgres.DB
	platform ident.Platform
	now      time.Time
}

func (f databaseFlags) withAgents(ctx context.Context, platformID string, do func(agentReader) error) error {
	return f.withDatabase(ctx, func(db *postgres.DB) error {
		owner, err := resolvePlatform(ctx, db, platformID)
		if err != nil {
			return err
		}
		return do(agentReader{db, owner, systemClock{}.Now()})
	})
}

// addAgents adds the agents that the command asks for, up to its limit.
func (r agentReader) addAgents(ctx context.Context, rows *table, found []agent.Agent, c agentsListCommand) error {
	ids := make([]ident.Agent, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	counters, err := r.db.AgentCounters(ctx, r.platform, ids, agent.MonthOf(r.now))
	if err != nil {
		return err
	}
	for _, a := range found {
		waiting, err := r.db.AgentActions(ctx, r.platform, ports.AgentActionFilter{Paging: ports.Paging{Limit: 1}, Agent: a.ID, Status: agent.ActionPending})
		if err != nil {
			return err
		}
		if c.Waiting && waiting.Total == 0 || len(rows.rows) >= c.Limit {
			continue
		}
		sent, err := sentText(counters[a.ID], agent.DayOf(r.now))
		if err != nil {
			return err
		}
		rows.add(a.ID.String(), a.Customer.String(), agentState(a), limitText(a.Policy.Limits, a.Policy.Limits.PerTransaction), sent, fmt.Sprint(waiting.Total))
	}
	return nil
}

func addAgent(rows *table, a agent.Agent) {
	rows.add("customer", a.Customer.String())
	rows.add("state", agentState(a))
	rows.add("connected", timeCell(a.ConnectedAt))
	rows.add("created", timeCell(a.CreatedAt))
	rows.add("changed", timeCell(a.UpdatedAt))
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

func addPolicy(rows *table, p agent.Policy) {
	permissions := make([]string, len(p.Permissions))
	for i, permission := range p.Permissions {
		permissions[i] = string(permission)
	}
	rows.add("permissions", strings.Join(permissions, ", "))
	rows.add("mode", string(p.DefaultMode))
	rows.add("per transaction", limitText(p.Limits, p.Limits.PerTransaction))
	rows.add("per day", limitText(p.Limits, p.Limits.Daily))
	transactions := "-"
	if p.Limits.DailyTransactions > 0 {
		transactions = fmt.Sprint(p.Limits.DailyTransactions)
	}
	rows.add("transactions per day", transactions)
	rows.add("per month", limitText(p.Limits, p.Limits.Monthly))
	threshold := "-"
	if p.Threshold.Amount != nil {
		threshold = money.Amount{Minor: *p.Threshold.Amount, Currency: p.Threshold.Currency}.String()
	}
	rows.add("approval above", threshold)
	switch {
	case p.AllowedAccounts == nil:
		rows.add("allowed accounts", "all")
	case len(p.AllowedAccounts) == 0:
		rows.add("allowed accounts", "none")
	}
	for _, account := range p.AllowedAccounts {
		rows.add("allowed account", account.String())
	}
	for _, r := range p.AccountRules {
		rows.add("rule", fmt.Sprintf("%s: mode %s, per transaction %s", r.Account, cmp.Or(string(r.Mode), "-"), limitText(p.Limits, r.PerTransaction)))
	}
}

// limitText returns a limit, which is zero for none.
func limitText(l agent.SpendingLimits, minor int64) string {
	if minor == 0 {
		return "-"
	}
	return money.Amount{Minor: minor, Currency: l.Currency}.String()
}

// sentText returns what was sent on a day or in a month, exactly and in each currency.
func sentText(c agent.Counters, period string) (string, error) {
	sums, err := c.Sums(period)
	if err != nil || len(sums) == 0 {
		return "-", err
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
