package rail_test

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/rail"
)

func reader(settings map[string]string) *rail.SettingReader {
	return rail.ReadSettings(rail.Connection{Adapter: rail.Partner, Settings: settings})
}

func Test_SettingReader_reads_what_is_given(t *testing.T) {
	r := reader(map[string]string{"url": "https://a.example", "poll": "2m", "most": "7", "key": "env:KEY", "list": "a, b,,",
		"receive.EUR":                 "x",
		rail.SettingStatementAccounts: "1=rails/SEPA"})
	got := []any{r.Required("url", "the URL"), r.Duration("poll", time.Minute, time.Second, time.Hour), r.Number("most", 1, 0, 9),
		r.RequiredReference("key", "a key"),
		r.List("list", "z"), r.Prefixed("receive."), r.Text("absent", "default"), r.Number("none", 3, 0, 9), r.Reference("nothing")}
	want := []any{"https://a.example", 2 * time.Minute, int64(7), "env:KEY", []string{"a", "b"}, map[string]string{"EUR": "x"},
		"default", int64(3), ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if err := r.Err(); err != nil {
		t.Errorf("error %v of valid settings", err)
	}
}

func Test_SettingReader_names_every_setting_that_is_not_valid(t *testing.T) {
	r := reader(map[string]string{"poll": "soon", "most": "10", "key": "hunter2", "colour": "red"})
	r.Required("url", "the URL")
	r.Duration("poll", time.Minute, time.Second, time.Hour)
	r.Number("most", 1, 0, 9)
	r.Reference("key")
	r.RequiredReference("seed", "the seed")
	r.RefuseField("rails", "must be one")
	rail.ParseSetting(r, "age", "old", strconv.Atoi)
	f, _ := fault.As(r.Err())
	if f == nil {
		t.Fatal("no error")
	}
	var names []string
	for _, field := range f.Fields {
		names = append(names, field.Field)
	}
	want := []string{"rails", "settings.age", "settings.colour", "settings.key", "settings.most", "settings.poll",
		"settings.seed", "settings.url"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("refused %v, want %v", names, want)
	}
}
