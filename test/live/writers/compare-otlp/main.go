// Compares an OTLP file, read by OpenTelemetry's decoder, with a pprof file, read by pprof's: values by type, stack (addresses, mappings with their build ids,
// functions, lines) and labels must be the same. Usage: compare-otlp FILE.otlp FILE.pb
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	bytes, err := os.ReadFile(os.Args[1])
	check(err)
	file, err := os.Open(os.Args[2])
	check(err)
	own, err := profile.Parse(file)
	check(err)
	decoded, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(bytes)
	check(err)
	inOtlp, inPprof := sumsOfOtlp(decoded), sumsOfPprof(own)
	for key, sum := range inOtlp {
		if inPprof[key] != sum {
			fmt.Printf("%s: %d in OTLP, %d in pprof\n", key, sum, inPprof[key])
			os.Exit(1)
		}
	}
	if len(inOtlp) != len(inPprof) {
		fmt.Printf("%d sums in OTLP, %d in pprof\n", len(inOtlp), len(inPprof))
		os.Exit(1)
	}
	fmt.Printf("%d sums are equal\n", len(inOtlp))
}

func sumsOfPprof(own *profile.Profile) map[string]int64 {
	sums := map[string]int64{}
	for _, sample := range own.Sample {
		var text strings.Builder
		for _, location := range sample.Location {
			mapping, buildID := "", ""
			if location.Mapping != nil {
				mapping, buildID = location.Mapping.File, location.Mapping.BuildID
			}
			fmt.Fprintf(&text, "%x %s %s", location.Address, mapping, buildID)
			for _, line := range location.Line {
				f := line.Function
				fmt.Fprintf(&text, " %s|%s|%s|%d|%d|%d", f.Name, f.SystemName, f.Filename, f.StartLine, line.Line, line.Column)
			}
			text.WriteByte('\n')
		}
		labels := []string{}
		for key, values := range sample.Label {
			labels = append(labels, fmt.Sprint(key, values[0]))
		}
		for key, values := range sample.NumLabel {
			labels = append(labels, fmt.Sprint(key, values[0]))
		}
		slices.Sort(labels)
		for column, value := range sample.Value {
			add(sums, fmt.Sprint(own.SampleType[column].Type, "/", own.SampleType[column].Unit, labels, "\n", text.String()), value)
		}
	}
	return sums
}

var labelOf = map[string]string{"process.pid": "pid", "thread.id": "tid", "thread.name": "comm", "perfconv.thread": "thread", "perfconv.input": "input"}

func sumsOfOtlp(profiles pprofile.Profiles) map[string]int64 {
	sums := map[string]int64{}
	dictionary := profiles.Dictionary()
	texts := dictionary.StringTable()
	attributes := func(indexes []int32) map[string]string {
		values := map[string]string{}
		for _, index := range indexes {
			attribute := dictionary.AttributeTable().At(int(index))
			values[texts.At(int(attribute.KeyStrindex()))] = attribute.Value().AsString()
		}
		return values
	}
	for _, all := range profiles.ResourceProfiles().All() {
		for _, scope := range all.ScopeProfiles().All() {
			for _, one := range scope.Profiles().All() {
				sampleType := texts.At(int(one.SampleType().TypeStrindex())) + "/" + texts.At(int(one.SampleType().UnitStrindex()))
				for _, sample := range one.Samples().All() {
					var text strings.Builder
					for _, index := range dictionary.StackTable().At(int(sample.StackIndex())).LocationIndices().All() {
						location := dictionary.LocationTable().At(int(index))
						mapping := dictionary.MappingTable().At(int(location.MappingIndex()))
						buildID := attributes(mapping.AttributeIndices().AsRaw())["process.executable.build_id.gnu"]
						fmt.Fprintf(&text, "%x %s %s", location.Address(), texts.At(int(mapping.FilenameStrindex())), buildID)
						for _, line := range location.Lines().All() {
							f := dictionary.FunctionTable().At(int(line.FunctionIndex()))
							name, systemName, file := texts.At(int(f.NameStrindex())), texts.At(int(f.SystemNameStrindex())), texts.At(int(f.FilenameStrindex()))
							fmt.Fprintf(&text, " %s|%s|%s|%d|%d|%d", name, systemName, file, f.StartLine(), line.Line(), line.Column())
						}
						text.WriteByte('\n')
					}
					values := attributes(sample.AttributeIndices().AsRaw())
					labels := []string{}
					for _, key := range slices.Sorted(maps.Keys(values)) {
						labels = append(labels, labelOf[key]+values[key])
					}
					slices.Sort(labels)
					add(sums, fmt.Sprint(sampleType, labels, "\n", text.String()), sample.Values().At(0))
				}
			}
		}
	}
	return sums
}

func add(sums map[string]int64, key string, value int64) {
	if value != 0 {
		sums[key] += value
	}
}
