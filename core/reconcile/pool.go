package reconcile

import (
	"cmp"
	"iter"
	"slices"

	"causeway/core/money"
)

// item is a line or an entry in a comparison.
type item struct {
	amount int64
	order  int64 // the number in the file, or that of the posting
	day    Day
	// The keys are those that the other side has too. An item with some is not matched by amount alone.
	firstKey uint32 // index into the keys of the pool
	keyCount uint8
	taken    bool
	returned bool  // of a line
	expected bool  // of an entry
	again    bool  // of a line: it is compared on its other day
	n        int16 // of an entry: its number in the posting
}

type (
	amountDay struct {
		amount int64
		day    Day
	}
	signDay struct {
		credit bool
		day    Day
	}
	keyAmount struct {
		key    key
		amount int64
	}
	keySignDay struct {
		key key
		signDay
	}
)

// pool has all items of one side, with indexes. Taken items stay and are skipped. Each index is made
// when it is needed and has only what can be asked of it: a pool has hundreds of thousands of items.
type pool struct {
	items []item
	keys  []key
	order []int32 // by day and order

	byAmountAndDay []keyedItem // by key, amount, day and order
	byAmount       map[keyAmount][]int
	byDay          map[keySignDay]*dayGroup
}

// keyedItem is an item under one of its keys.
type keyedItem struct {
	key  key
	item int32
	// next is where the search for an open item goes on, if this one is taken.
	next int32
}

func (p *pool) keysOf(i int) []key {
	it := &p.items[i]
	return p.keys[it.firstKey:][:it.keyCount]
}

// dayGroup has the items with a key on one day in one direction. open and sum are of those not
// taken. sum may wrap around, so it is verified before it is used.
type dayGroup struct {
	items []int
	next  int // all items before it are taken
	open  int
	sum   uint64
}

// sort orders the items by day and order. tie orders those that have both in common.
func (p *pool) sort(tie func(a, b int32) int) {
	p.order = make([]int32, len(p.items))
	for i := range p.items {
		p.order[i] = int32(i)
	}
	slices.SortFunc(p.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.items[a].day, p.items[b].day), cmp.Compare(p.items[a].order, p.items[b].order), tie(a, b), cmp.Compare(a, b))
	})
}

// indexByAmountAndDay makes the index of firstOpen.
func (p *pool) indexByAmountAndDay() {
	count := 0
	for _, it := range p.items {
		if !it.taken {
			count += int(it.keyCount)
		}
	}
	p.byAmountAndDay = make([]keyedItem, 0, count)
	for _, i := range p.order {
		if p.items[i].taken {
			continue
		}
		for _, k := range p.keysOf(int(i)) {
			p.byAmountAndDay = append(p.byAmountAndDay, keyedItem{key: k, item: i})
		}
	}
	slices.SortStableFunc(p.byAmountAndDay, func(a, b keyedItem) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(p.items[a.item].amount, p.items[b.item].amount),
			cmp.Compare(p.items[a.item].day, p.items[b.item].day))
	})
	for i := range p.byAmountAndDay {
		p.byAmountAndDay[i].next = int32(i + 1)
	}
}

// indexByDay makes the index of findSum and nearest, for the keys of the open items of the other
// side.
func (p *pool) indexByDay(other *pool) {
	needed := map[key]bool{}
	for i := range other.items {
		if !other.items[i].taken {
			for _, k := range other.keysOf(i) {
				needed[k] = true
			}
		}
	}
	p.byDay = map[keySignDay]*dayGroup{}
	for _, ordered := range p.order {
		i := int(ordered)
		it := p.items[i]
		if it.taken {
			continue
		}
		for _, k := range p.keysOf(i) {
			if !needed[k] {
				continue
			}
			group := keySignDay{k, signDay{it.amount > 0, it.day}}
			if p.byDay[group] == nil {
				p.byDay[group] = &dayGroup{}
			}
			r := p.byDay[group]
			r.items = append(r.items, i)
			r.open++
			r.sum += uint64(it.amount)
		}
	}
}

// indexByAmount makes the index of findAny, for some keys and amounts.
func (p *pool) indexByAmount(needed map[keyAmount]bool) {
	p.byAmount = map[keyAmount][]int{}
	for _, ordered := range p.order {
		i := int(ordered)
		for _, k := range p.keysOf(i) {
			if wanted := (keyAmount{k, p.items[i].amount}); needed[wanted] {
				p.byAmount[wanted] = append(p.byAmount[wanted], i)
			}
		}
	}
}

func (p *pool) take(i int) {
	it := &p.items[i]
	it.taken = true
	for _, k := range p.keysOf(i) {
		if r := p.byDay[keySignDay{k, signDay{it.amount > 0, it.day}}]; r != nil {
			r.open--
			r.sum -= uint64(it.amount)
		}
	}
}

// open returns the items that are not taken, in order. Those that are taken meanwhile are skipped.
func (p *pool) open() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, i := range p.order {
			if !p.items[i].taken && !yield(int(i)) {
				return
			}
		}
	}
}

// firstOpen returns the first open item with a key and an amount at a distance in days from a
// day, the earlier day first.
func (p *pool) firstOpen(k key, amount int64, day Day, distance int) (int, bool) {
	for _, target := range []Day{day - Day(distance), day + Day(distance)} {
		compare := func(x keyedItem) int {
			it := &p.items[x.item]
			return cmp.Or(cmp.Compare(x.key, k), cmp.Compare(it.amount, amount), cmp.Compare(it.day, target))
		}
		first, found := slices.BinarySearchFunc(p.byAmountAndDay, target, func(x keyedItem, _ Day) int { return compare(x) })
		if !found {
			continue
		}
		i := first
		for i < len(p.byAmountAndDay) && compare(p.byAmountAndDay[i]) == 0 {
			if open := int(p.byAmountAndDay[i].item); !p.items[open].taken {
				return open, true
			}
			i = int(p.byAmountAndDay[i].next)
			p.byAmountAndDay[first].next = int32(i)
		}
	}
	return 0, false
}

// findSum returns several open items that have a common key with an item and add up to it: all of
// its day, or else all within the window.
func (p *pool) findSum(to item, keys []key) (found []int, shared key) {
	for _, k := range keys {
		for _, reach := range []Day{0, Window} {
			var open int
			var sum uint64
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.byDay[keySignDay{k, signDay{to.amount > 0, day}}]; r != nil {
					open += r.open
					sum += r.sum
				}
			}
			if open < 2 || sum != uint64(to.amount) {
				continue
			}
			var candidates []int
			for day := to.day - reach; day <= to.day+reach; day++ {
				if r := p.byDay[keySignDay{k, signDay{to.amount > 0, day}}]; r != nil {
					candidates = append(candidates, r.items...)
				}
			}
			if found := p.openSummingTo(candidates, to.amount); found != nil {
				return found, k
			}
		}
	}
	return nil, 0
}

// openSummingTo returns the open ones of some items, if they are several and add up to the amount.
func (p *pool) openSummingTo(items []int, amount int64) []int {
	var open []int
	var sum int64
	for _, i := range items {
		if p.items[i].taken {
			continue
		}
		var err error
		if sum, err = money.AddMinor(sum, p.items[i].amount); err != nil {
			return nil
		}
		open = append(open, i)
	}
	if len(open) < 2 || sum != amount {
		return nil
	}
	return open
}

// unsharedByAmountAndDay returns the open items without a shared key, by amount and day.
func (p *pool) unsharedByAmountAndDay() map[amountDay][]int {
	found := map[amountDay][]int{}
	for i := range p.open() {
		if it := p.items[i]; it.keyCount == 0 {
			key := amountDay{it.amount, it.day}
			found[key] = append(found[key], i)
		}
	}
	return found
}

// unsharedByDay returns the open items without a shared key, by direction and day.
func (p *pool) unsharedByDay() map[signDay]*dayGroup {
	found := map[signDay]*dayGroup{}
	for i := range p.open() {
		if it := p.items[i]; it.keyCount == 0 {
			key := signDay{it.amount > 0, it.day}
			if found[key] == nil {
				found[key] = &dayGroup{}
			}
			found[key].items = append(found[key].items, i)
			found[key].sum += uint64(it.amount)
		}
	}
	return found
}

// nearest returns the open item nearest to an item within the window that has a common key and the
// same direction.
func (p *pool) nearest(to item, keys []key) (int, bool) {
	for distance := range Day(Window + 1) {
		for _, k := range keys {
			for _, day := range []Day{to.day - distance, to.day + distance} {
				r := p.byDay[keySignDay{k, signDay{to.amount > 0, day}}]
				if r == nil || r.open == 0 {
					continue
				}
				for p.items[r.items[r.next]].taken {
					r.next++
				}
				return r.items[r.next], true
			}
		}
	}
	return 0, false
}
