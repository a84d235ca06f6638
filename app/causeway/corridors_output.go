package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// writeTerms prints a line for each currency pair.
func writeTerms(out io.Writer, terms []pricing.CorridorTerms) error {
	rows := table{rightAligned: []int{2, 4, 5, 7}}
	for _, s := range terms {
		rows.add(string(s.From), string(s.To), formatMajor(s.Terms.Fee.Fixed, s.From), "+", corridor.FormatPercent(s.Terms.Fee.Percent),
			formatMajor(s.Terms.MinSending, s.From), "to", formatMajor(s.Terms.MaxSending, s.From), corridor.FormatLock(s.Terms.Lock), describeOverrides(s))
	}
	return rows.write(out, "from", "to", "fixed fee", "", "variable", "minimum", "", "maximum", "lock", "changed from default")
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

// writeChange prints the values before and after a change.
func writeChange(out io.Writer, c pricing.ChangeResult) error {
	if len(c.ChangedFields) == 0 {
		_, err := fmt.Fprintf(out, "%s to %s %s: no change.\n", c.From, c.To, forPlatform(c.CorridorKey))
		return err
	}
	if _, err := fmt.Fprintf(out, "%s to %s %s:\n", c.From, c.To, forPlatform(c.CorridorKey)); err != nil {
		return err
	}
	if err := writeChangedFields(out, c); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "Servers apply the change within 10 seconds. Existing quotes keep their price.")
	return err
}

// writeChangedFields prints a line for each changed value.
func writeChangedFields(out io.Writer, c pricing.ChangeResult) error {
	before, after, rows := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format()), table{rightAligned: []int{1, 2}}
	for _, name := range c.ChangedFields {
		rows.add(name, before[name], after[name])
	}
	return rows.write(out, "value", "before", "after")
}

// writeHistory prints a line for each changed value.
func writeHistory(out io.Writer, changes []ports.CorridorChange) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(out, "No changes; the default terms apply.")
		return err
	}
	rows := table{rightAligned: []int{5, 6}}
	header := []string{"changed (UTC)", "from", "to", "for", "value", "before", "after", "by", "note"}
	approvals := slices.ContainsFunc(changes, func(c ports.CorridorChange) bool { return !c.Approval.IsZero() })
	if approvals {
		header = slices.Insert(header, approverColumn, "approved by")
	}
	for _, c := range changes {
		before, after, defaults := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format()), defaultTexts(c.CorridorKey)
		for _, name := range c.Before.Merge(c.After).Names() {
			if before[name] == after[name] {
				continue
			}
			cells := []string{c.At.Format("2006-01-02 15:04:05"), string(c.From), string(c.To), platformOrAll(c.CorridorKey), name,
				cmp.Or(before[name], defaults[name]), cmp.Or(after[name], defaults[name]), c.By, c.Note}
			if approvals {
				cells = slices.Insert(cells, approverColumn, c.Approval.By.Actor)
			}
			rows.add(cells...)
		}
	}
	return rows.write(out, header...)
}

// approverColumn is the column of the history for who approved a change, if any was proposed.
const approverColumn = 8

// overrideTexts returns the formatted values of an override by field name.
func overrideTexts(o corridor.OverrideInput) map[string]string {
	return map[string]string{
		corridor.FieldFixed: o.Fixed, corridor.FieldPercent: o.Percent, corridor.FieldMin: o.Min, corridor.FieldMax: o.Max, corridor.FieldLock: o.Lock,
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
