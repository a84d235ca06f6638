package pgembed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// pinnedSettings are the settings nobody may change: they go on the command line, which
// beats every file and ALTER SYSTEM.
//
//   - What the service has acknowledged survives a crash.
//   - Nothing but the unix socket leads in.
//   - A failed statement holds customers' data, so neither its text nor its
//     details go to the log.
var pinnedSettings = map[string]string{
	"fsync":                   "on",
	"full_page_writes":        "on",
	"synchronous_commit":      "on",
	"listen_addresses":        "",
	"unix_socket_permissions": "0700",
	"port":                    socketPort,
	"log_min_error_statement": "panic",
	"log_error_verbosity":     "terse",
	"log_statement":           "none",
	"unix_socket_directories": "", // decided at start
	"cluster_name":            "causeway",
}

// defaultSettings are the settings that Options.Settings may replace: small enough for a
// laptop, enough for a few thousand payments a second.
var defaultSettings = map[string]string{
	"max_connections":  "100",
	"shared_buffers":   "128MB",
	"random_page_cost": "1.1", // disks do not seek any more
	"jit":              "off", // short statements: compiling costs more than it saves
	"timezone":         "UTC",
	"log_timezone":     "UTC",
	"lc_messages":      "C",
	"log_line_prefix":  "%m [%p] ",
}

// throwawaySettings is what Options.Throwaway trades for speed.
var throwawaySettings = map[string]string{
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
}

// flags are the arguments postgres is started with.
func (o Options) flags() ([]string, error) {
	if o.MaxConnections < 0 {
		return nil, fmt.Errorf("MaxConnections is %d: it must not be negative", o.MaxConnections)
	}
	settings := maps.Clone(defaultSettings)
	if o.MaxConnections > 0 {
		settings["max_connections"] = strconv.Itoa(o.MaxConnections)
	}
	for name, value := range o.Settings {
		if _, ok := pinnedSettings[name]; ok {
			return nil, fmt.Errorf("the Postgres setting %s cannot be changed here", name)
		}
		settings[name] = value
	}
	maps.Copy(settings, pinnedSettings)
	if o.Throwaway {
		maps.Copy(settings, throwawaySettings)
	}
	delete(settings, "unix_socket_directories")

	var flags []string
	for _, name := range slices.SortedFunc(maps.Keys(settings), cmp.Compare[string]) {
		flags = append(flags, "-c", name+"="+settings[name])
	}
	return flags, nil
}
