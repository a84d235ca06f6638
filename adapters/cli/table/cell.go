package table

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"causeway/core/money"
	"causeway/core/platform"
)

// Cell is a value with the text that a person reads.
type Cell struct {
	Text string
	// Value is what programs read: a string, an integer, a bool or, if there is none, nil.
	Value any
}

// Actor names who has done something, as platform.Author does: the tokens in it get names before it is printed, see Page.NameActors.
type Actor string

// CellOf returns the cell of a value: a Cell, a text, an integer, a bool, a time or what has the method String.
func CellOf(value any) Cell {
	switch v := value.(type) {
	case Cell:
		return v
	case time.Time:
		return moment(v, time.RFC3339, "-")
	case platform.Author:
		return CellOf(Actor(v.String()))
	case Actor:
		return Cell{string(v), v}
	case fmt.Stringer:
		return Cell{v.String(), v.String()}
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return Cell{v.String(), v.String()}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Cell{strconv.FormatInt(v.Int(), 10), v.Int()}
	case reflect.Bool:
		return Cell{strconv.FormatBool(v.Bool()), v.Bool()}
	default:
		return Cell{fmt.Sprint(value), fmt.Sprint(value)}
	}
}

// moment prints a time in UTC: for people in a layout, and none for the zero time; for programs as the reports do.
func moment(at time.Time, layout, none string) Cell {
	if at.IsZero() {
		return Cell{Text: none}
	}
	return Cell{at.UTC().Format(layout), at.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// Minute is a time of which a person reads the minute, and a dash for the zero time.
func Minute(at time.Time) Cell { return moment(at, "2006-01-02 15:04", "-") }

// Second is a time of which a person reads the second, and nothing for the zero time.
func Second(at time.Time) Cell { return moment(at, time.DateTime, "") }

// OrDash is a text in whose place a person reads a dash if it is empty.
func OrDash[T ~string](text T) Cell { return Or(text, "-") }

// Or is a text in whose place a person reads another one if it is empty.
func Or[T ~string](text T, none string) Cell {
	if text == "" {
		return Cell{Text: none}
	}
	return CellOf(text)
}

// Quoted is a text that a person reads in quotation marks, which show where it begins and ends; a dash if it is empty.
func Quoted(text string) Cell {
	if text == "" {
		return Cell{Text: "-"}
	}
	return Cell{strconv.Quote(text), text}
}

// Major is an exact amount in major units without its currency, which has its own column.
func Major(minor int64, currency money.Currency) string {
	text, _, _ := strings.Cut(money.Amount{Minor: minor, Currency: currency}.String(), " ")
	return text
}
