package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// termsTable has a line for each currency pair.
func termsTable(terms []pricing.CorridorTerms) *table.Table {
	rows := table.New("from", "to", ">fixed fee", "|plus", ">variable", ">minimum", "|up_to", ">maximum", "lock",
		"changed from default|changed")
	for _, s := range terms {
		rows.Add(s.From, s.To, table.Major(s.Terms.Fee.Fixed, s.From), "+", corridor.FormatPercent(s.Terms.Fee.Percent),
			table.Major(s.Terms.MinSending, s.From), "to", table.Major(s.Terms.MaxSending, s.From),
			corridor.FormatLock(s.Terms.Lock), describeOverrides(s))
	}
	return rows
}

// describeOverrides names the terms that differ from the defaults, and who changed them.
func describeOverrides(s pricing.CorridorTerms) string {
	var parts []string
	for _, part := range []struct {
		names []string
		by    string
	}{{s.ChangedForAll, "for all"}, {s.ChangedForPlatform, "for this platform"}, {s.LimitedByPlatform, "by the platform"}} {
		if len(part.names) > 0 {
			parts = append(parts, strings.Join(part.names, ", ")+" "+part.by)
		}
	}
	return strings.Join(parts, "; ")
}

// writeTermsJSON prints the terms as JSON, in minor units.
func writeTermsJSON(out io.Writer, terms []pricing.CorridorTerms) error {
	type changedJSON struct {
		ForAll   []string `json:"forAll,omitempty"`
		Platform []string `json:"forPlatform,omitempty"`
		Itself   []string `json:"byPlatform,omitempty"`
	}
	type termsJSON struct {
		From        money.Currency `json:"from"`
		To          money.Currency `json:"to"`
		FeeFixed    int64          `json:"feeFixed"`
		FeePercent  string         `json:"feePercent"`
		Min         int64          `json:"min"`
		Max         int64          `json:"max"`
		LockSeconds int64          `json:"lockSeconds"`
		Changed     changedJSON    `json:"changed,omitzero"`
	}
	list := make([]termsJSON, len(terms))
	for i, s := range terms {
		list[i] = termsJSON{s.From, s.To, s.Terms.Fee.Fixed, corridor.FormatPercent(s.Terms.Fee.Percent), s.Terms.MinSending, s.Terms.MaxSending,
			int64(s.Terms.Lock / time.Second), changedJSON{s.ChangedForAll, s.ChangedForPlatform, s.LimitedByPlatform}}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

// printChange prints the values before and after a change that was made or proposed.
func (f outputFlag) printChange(env *Env, c pricing.ChangeResult) error {
	var page table.Page
	pair := fmt.Sprintf("%s to %s %s", c.From, c.To, forPlatform(c.CorridorKey))
	before, after, rows := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format()), table.New("value", ">before", ">after")
	for _, name := range c.ChangedFields {
		rows.Add(name, before[name], after[name])
	}
	switch {
	case c.Proposal != nil && c.Proposal.DecidedAt.IsZero():
		page.Line("%s needs the approval of another operator. This is proposed; nothing has changed yet:", pair)
		page.Table("values", rows, "")
		if slices.ContainsFunc(c.ChangedFields, func(name string) bool { return before[name] == after[name] }) {
			page.Line("A value that stays the same is set for this corridor from then on, or follows the default again.")
		}
		page.Line("%s was proposed by %s and expires at %s UTC. Another person approves it after causeway login:\n  causeway corridors approve "+
			"%s", c.Proposal.ID, table.Printable(c.Proposal.By.Actor), table.Second(c.Proposal.ExpiresAt).Text, c.Proposal.ID)
		page.DataRecord("proposal", table.NewRecord("proposal", c.Proposal.ID))
	case len(c.ChangedFields) == 0:
		page.Line("%s: no change.", pair)
	default:
		page.Line("%s:", pair)
		page.Table("values", rows, "")
		page.Line("Servers apply the change within 10 seconds. Existing quotes keep their price.")
	}
	if c.Proposal != nil && !c.Proposal.DecidedAt.IsZero() {
		page.Line("Proposed by %s and approved by %s: %s.", table.Printable(c.Proposal.By.Actor), table.Printable(c.Proposal.DecidedBy.Actor),
			c.Proposal.ID)
		page.DataRecord("proposal", table.NewRecord("proposal", c.Proposal.ID))
	}
	return f.print(env, &page)
}

// historyTable has a line for each changed value. People read who approved a change only if any was proposed.
func historyTable(changes []ports.CorridorChange, format table.Format) *table.Table {
	columns := []string{"changed (UTC)", "from", "to", "for", "value", ">before", ">after", "by", "note"}
	approvals := format != table.Text || slices.ContainsFunc(changes, func(c ports.CorridorChange) bool { return !c.Approval.IsZero() })
	if approvals {
		columns = slices.Insert(columns, approverColumn, "approved by")
	}
	rows := table.New(columns...)
	for _, c := range changes {
		before, after, defaults := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format()), defaultTexts(c.CorridorKey)
		for _, name := range c.Before.Merge(c.After).Names() {
			if before[name] == after[name] {
				continue
			}
			cells := []any{table.Second(c.At), c.From, c.To, platformOrAll(c.CorridorKey), name,
				cmp.Or(before[name], defaults[name]), cmp.Or(after[name], defaults[name]), c.By, c.Note}
			if approvals {
				cells = slices.Insert(cells, approverColumn, any(c.Approval.By.Actor))
			}
			rows.Add(cells...)
		}
	}
	return rows
}

// approverColumn is the column of the history for who approved a change.
const approverColumn = 8

// overrideTexts returns the formatted values of an override by field name.
func overrideTexts(o corridor.OverrideInput) map[string]string {
	return map[string]string{
		corridor.FieldFixed: o.Fixed, corridor.FieldPercent: o.Percent, corridor.FieldMin: o.Min, corridor.FieldMax: o.Max,
		corridor.FieldLock: o.Lock,
	}
}

// defaultTexts returns the formatted default values: those of this release for a change to all
// platforms, and those of all platforms for a change to one.
func defaultTexts(key ports.CorridorKey) map[string]string {
	found, err := corridor.Find(key.From, key.To, "")
	if key.From == key.To {
		found, err = corridor.Within(key.From, "")
	}
	texts := overrideTexts(found.Terms.Format())
	for name, text := range texts {
		switch {
		case !key.Platform.IsZero():
			texts[name] = "as for all"
		case err != nil:
			texts[name] = "default"
		default:
			texts[name] = text + " (default)"
		}
	}
	return texts
}

func platformOrAll(key ports.CorridorKey) string {
	if key.Platform.IsZero() {
		return "all"
	}
	return key.Platform.String()
}

func forPlatform(key ports.CorridorKey) string {
	if key.Platform.IsZero() {
		return "for all platforms"
	}
	return "for " + key.Platform.String()
}
