package books

import (
	"slices"
	"strings"
	"testing"
)

func TestReadCSV_ByteOrderMarkIsNoPartOfTheFirstCell(t *testing.T) {
	t.Parallel()
	// Spreadsheets write a byte order mark in front of the first cell, quoted or not.
	for _, file := range []string{"account,currency\n", "\ufeffaccount,currency\n", "\ufeff\"account\",\"currency\"\r\n"} {
		rows, err := readCSV(strings.NewReader(file), 1)
		if err != nil || len(rows) != 1 || !slices.Equal(rows[0], []string{"account", "currency"}) {
			t.Errorf("%q: %q, %v", file, rows, err)
		}
	}
	for _, file := range []string{"", "\ufeff"} {
		if rows, err := readCSV(strings.NewReader(file), 1); err != nil || len(rows) != 0 {
			t.Errorf("%q: %q, %v", file, rows, err)
		}
	}
}
