package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// checkPrices compares the prices in force, of platforms and of all platforms, with their history. Those of all platforms
// are also prices of one that is checked alone.
func (c *run) checkPrices(ctx context.Context) error {
	prices, changes, err := c.store.PricesAndChanges(ctx)
	if errors.Is(err, money.ErrInvalidRate) {
		c.report.countChecked(RulePrices)
		c.report.addFinding(RulePrices, "prices cannot be read: %v", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("check prices: %w", err)
	}
	ofOthers := func(k ports.CorridorKey) bool { return !k.Platform.IsZero() && c.ofOthers(k.Platform) }
	prices = slices.DeleteFunc(prices, func(p ports.CorridorOverride) bool { return ofOthers(keyOf(p)) })
	changes = slices.DeleteFunc(changes, func(p ports.CorridorChange) bool { return ofOthers(p.CorridorKey) })
	checked, problems := comparePrices(prices, changes)
	c.report.rule(RulePrices).Checked += checked
	for _, problem := range problems {
		c.report.addFinding(RulePrices, "%s", problem)
	}
	return nil
}

// comparePrices returns how the prices in force differ from those of their last changes, and where a change does not
// begin with what the one before it has left, and how many prices there are, or were. changes are in order.
func comparePrices(prices []ports.CorridorOverride, changes []ports.CorridorChange) (checked int64, problems []string) {
	last := map[ports.CorridorKey]ports.CorridorChange{}
	var keys []ports.CorridorKey
	for _, change := range changes {
		before, changed := last[change.CorridorKey]
		if !changed {
			keys = append(keys, change.CorridorKey)
		}
		if change.Before.Format() != before.After.Format() {
			problems = append(problems, fmt.Sprintf("change %d of %s begins with %s, and what was recorded before ends with %s",
				change.Number, nameCorridor(change.CorridorKey), textOfTerms(change.Before), textOfTerms(before.After)))
		}
		last[change.CorridorKey] = change
	}
	inForce := map[ports.CorridorKey]corridor.Override{}
	for _, price := range prices {
		key := keyOf(price)
		inForce[key] = price.Terms
		if _, changed := last[key]; !changed {
			keys = append(keys, key)
			problems = append(problems, fmt.Sprintf("%s has %s, and no change of it is recorded", nameCorridor(key), textOfTerms(price.Terms)))
		}
	}
	for _, key := range keys {
		if change, changed := last[key]; changed && inForce[key].Format() != change.After.Format() {
			problems = append(problems, fmt.Sprintf("%s has %s, and by its last change, %d, it has %s",
				nameCorridor(key), textOfTerms(inForce[key]), change.Number, textOfTerms(change.After)))
		}
	}
	return int64(len(keys)), problems
}

func keyOf(o ports.CorridorOverride) ports.CorridorKey {
	return ports.CorridorKey{Platform: o.Platform, From: o.From, To: o.To}
}

func nameCorridor(k ports.CorridorKey) string {
	where := "all platforms"
	if !k.Platform.IsZero() {
		where = k.Platform.String()
	}
	return fmt.Sprintf("%s to %s on %s", k.From, k.To, where)
}

// textOfTerms lists what an override sets.
func textOfTerms(o corridor.Override) string {
	if o.IsZero() {
		return "the built-in terms"
	}
	text := o.Format()
	values := map[string]string{corridor.FieldFixed: text.Fixed, corridor.FieldPercent: text.Percent, corridor.FieldMin: text.Min,
		corridor.FieldMax: text.Max, corridor.FieldLock: text.Lock}
	var texts []string
	for _, name := range o.Names() {
		texts = append(texts, name+" "+values[name])
	}
	return strings.Join(texts, ", ")
}
