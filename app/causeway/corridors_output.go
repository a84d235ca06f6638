package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// writeTerms prints a line for every pair.
func writeTerms(out io.Writer, shown []pricing.CorridorTerms) error {
	rows := table{rightAligned: []int{2, 4, 5, 7}}
	for _, s := range shown {
		rows.add(string(s.From), string(s.To), formatMajor(s.Terms.Fee.Fixed, s.From), "+", corridor.FormatPercent(s.Terms.Fee.Percent),
			formatMajor(s.Terms.MinSending, s.From), "to", formatMajor(s.Terms.MaxSending, s.From), corridor.FormatLock(s.Terms.Lock), describeOverrides(s))
	}
	return rows.write(out, "from", "to", "fixed fee", "", "variable", "least", "", "most", "lock", "not built in")
}

// describeOverrides tells which terms are not the built-in ones, and why.
func describeOverrides(s pricing.CorridorTerms) string {
	var parts []string
	for _, part := range []struct {
		names []string
		by    string
	}{{s.ChangedForAll, "for all"}, {s.ChangedForPlatform, "for this platform"}, {s.LimitedByPlatform, "by this platform itself"}} {
		if len(part.names) > 0 {
			parts = append(parts, strings.Join(part.names, ", ")+" "+part.by)
		}
	}
	return strings.Join(parts, "; ")
}

// writeTermsJSON prints the same for programs, in minor units.
func writeTermsJSON(out io.Writer, shown []pricing.CorridorTerms) error {
	type changed struct {
		ForAll   []string `json:"forAll,omitempty"`
		Platform []string `json:"forPlatform,omitempty"`
		Itself   []string `json:"byPlatform,omitempty"`
	}
	type terms struct {
		From        money.Currency `json:"from"`
		To          money.Currency `json:"to"`
		FeeFixed    int64          `json:"feeFixed"`
		FeePercent  string         `json:"feePercent"`
		Min         int64          `json:"min"`
		Max         int64          `json:"max"`
		LockSeconds int64          `json:"lockSeconds"`
		NotBuiltIn  changed        `json:"notBuiltIn,omitzero"`
	}
	list := make([]terms, len(shown))
	for i, s := range shown {
		list[i] = terms{s.From, s.To, s.Terms.Fee.Fixed, corridor.FormatPercent(s.Terms.Fee.Percent), s.Terms.MinSending, s.Terms.MaxSending,
			int64(s.Terms.Lock / time.Second), changed{s.ChangedForAll, s.ChangedForPlatform, s.LimitedByPlatform}}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

// writeChange prints what a change did.
func writeChange(out io.Writer, c pricing.ChangeResult) error {
	if len(c.ChangedFields) == 0 {
		_, err := fmt.Fprintf(out, "%s to %s %s: nothing is other than before.\n", c.From, c.To, forPlatform(c.CorridorKey))
		return err
	}
	if _, err := fmt.Fprintf(out, "%s to %s %s:\n", c.From, c.To, forPlatform(c.CorridorKey)); err != nil {
		return err
	}
	before, after, rows := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format()), table{rightAligned: []int{1, 2}}
	for _, name := range c.ChangedFields {
		rows.add(name, before[name], after[name])
	}
	if err := rows.write(out, "value", "before", "after"); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "Servers follow within 10 seconds. Quotes made before keep their price.")
	return err
}

// writeHistory prints a line for every value that was changed.
func writeHistory(out io.Writer, changes []ports.CorridorChange) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(out, "Nothing was ever changed; the built-in terms are in force.")
		return err
	}
	rows := table{rightAligned: []int{5, 6}}
	for _, c := range changes {
		before, after, builtIn := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format()), defaultTexts(c.CorridorKey)
		for _, name := range c.Before.Merge(c.After).Names() {
			if before[name] != after[name] {
				rows.add(c.At.Format("2006-01-02 15:04:05"), string(c.From), string(c.To), platformOrAll(c.CorridorKey), name,
					cmp.Or(before[name], builtIn[name]), cmp.Or(after[name], builtIn[name]), c.By, c.Note)
			}
		}
	}
	return rows.write(out, "changed (UTC)", "from", "to", "for", "value", "before", "after", "by", "note")
}

// overrideTexts are the texts of an override by their names.
func overrideTexts(w corridor.OverrideInput) map[string]string {
	return map[string]string{
		corridor.FieldFixed: w.Fixed, corridor.FieldPercent: w.Percent, corridor.FieldMin: w.Min, corridor.FieldMax: w.Max, corridor.FieldLock: w.Lock,
	}
}

// defaultTexts are the texts of what is in force where nothing was changed: for all the
// built-in values of this release, for one platform what holds for all.
func defaultTexts(line ports.CorridorKey) map[string]string {
	way, err := corridor.Find(line.From, line.To, "")
	texts := overrideTexts(way.Terms.Format())
	for name, text := range texts {
		switch {
		case !line.Platform.IsZero():
			texts[name] = "as for all"
		case err != nil:
			texts[name] = "built in"
		default:
			texts[name] = text + " (built in)"
		}
	}
	return texts
}

func platformOrAll(line ports.CorridorKey) string {
	if line.Platform.IsZero() {
		return "all"
	}
	return line.Platform.String()
}

func forPlatform(line ports.CorridorKey) string {
	if line.Platform.IsZero() {
		return "for all platforms"
	}
	return "for " + line.Platform.String()
}
